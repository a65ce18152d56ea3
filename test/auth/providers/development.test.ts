import t from 'tap';
import { createTestApp } from '../../support/app.ts';

t.test('outside production one logs in as anyone, on a page of the service', async (t) => {
  const { call } = await createTestApp();
  const list = await call('GET', '/auth/providers/');
  t.strictSame(list.body.data, { items: [{ id: 'development', name: '개발용 로그인' }] });
  const start = await call('POST', '/auth/providers/development/start/', { body: { purpose: 'login' } });
  t.equal(start.status, 200, start.text);
  const url = new URL(start.body.data.authorization_url);
  t.equal(`${url.origin}${url.pathname}`, 'https://api.example.com/dev/login/');
  const page = await call('GET', `${url.pathname}${url.search}`, { headers: { host: 'localhost:3000' } });
  t.equal(page.status, 200);
  const form = new URLSearchParams(url.searchParams);
  form.set('subject', 'kim');
  form.set('email', 'kim@example.com');
  form.set('name', '김두레');
  form.set('is_email_proved', 'true');
  const headers = { 'content-type': 'application/x-www-form-urlencoded', host: '127.0.0.1:3000' };
  const sent = await call('POST', '/dev/login/', { body: String(form), headers });
  t.equal(sent.status, 303, sent.text);
  const back = new URL(String(sent.headers['location']));
  const callback = await call('GET', `${back.pathname}${back.search}`);
  t.equal(callback.status, 303, callback.text);
  const query = new URL(String(callback.headers['location'])).searchParams;
  const body = { flow_token: start.body.data.flow_token, code: query.get('code'), state: query.get('state') };
  const finish = await call('POST', '/auth/providers/development/finish/', { body });
  t.equal(finish.status, 403, finish.text);
  t.match(finish.body.data, {
    code: 'sign_up_required',
    suggested: { name: '김두레', email: 'kim@example.com', is_email_verified: true },
  });
  const signUp = await call('POST', '/auth/providers/sign-up/', {
    body: {
      sign_up_token: finish.body.data.sign_up_token,
      username: 'kim.dev',
      name: '김',
      email: 'kim@example.com',
    },
  });
  t.equal(signUp.status, 201, signUp.text);
  t.match(signUp.body.data, { user: { is_verified: true, username: 'kim.dev' } });
  const ids = await call('GET', '/auth/identities/', { token: signUp.body.data.access });
  t.match(ids.body.data, {
    items: [{ provider: 'development', email: 'kim@example.com' }],
    next_cursor: null,
  });
});
