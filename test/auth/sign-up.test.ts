import t from 'tap';
import { codeIn, createTestApp, password } from '../support/app.ts';

t.test('signing up answers with exactly the six fields of a user and mails a code', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const body = { username: 'Dure_Cafe', password, name: '  김두레 ', email: 'Owner@Example.com' };
  const answer = await app.call('POST', '/auth/signup/', { body });
  t.equal(answer.status, 201);
  t.strictSame(answer.body.data, {
    id: answer.body.data.id,
    username: 'dure_cafe',
    name: '김두레',
    email: 'owner@example.com',
    role: 'user',
    is_verified: false,
  });
  t.type(answer.body.data.id, 'number');
  t.match(codeIn(await app.mails.next('owner@example.com')), /^\d{6}$/);
});
