import t from 'tap';
import { checkServer } from '../../src/infrastructure/database/connection.ts';
import { createTestDatabase, databaseUrl, execute } from '../support/database.ts';
import { startPooler } from '../support/pooler.ts';

t.test('a database with which the service would fail later is rejected at the start', async (t) => {
  const url = await createTestDatabase();
  await checkServer(url);
  await t.rejects(checkServer(`${url}?sslmode=require`), { message: /does not support SSL/ });
  const latin = databaseUrl(url, `latin_${process.pid}`);
  const options = `ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`;
  await execute(databaseUrl(url, 'postgres'), `CREATE DATABASE latin_${process.pid} ${options}`);
  await t.rejects(checkServer(latin), {
    message: "the database has the encoding LATIN1: create it with ENCODING 'UTF8'",
  });
  await execute(databaseUrl(url, 'postgres'), `DROP DATABASE latin_${process.pid}`);
  await t.rejects(checkServer(await startPooler(t, url)), { message: /set DATABASE_DIRECT_URL/ });
  await checkServer(url.replace(/:\d+\//, ':1/'));
});
