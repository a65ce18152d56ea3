import t from 'tap';
import { checkServer } from '../../src/infrastructure/database/connection.ts';
import { createTestDatabase } from '../support/database.ts';
import { startPooler } from '../support/pooler.ts';

t.test('a database with which the service would fail later is rejected at the start', async (t) => {
  const url = await createTestDatabase();
  await checkServer(url);
  await t.rejects(checkServer(`${url}?sslmode=require`), { message: /does not support SSL/ });
  await t.rejects(checkServer(await startPooler(t, url)), { message: /set DATABASE_DIRECT_URL/ });
  await checkServer(url.replace(/:\d+\//, ':1/'));
});
