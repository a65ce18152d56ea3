import t from 'tap';
import { checkServer } from '../../src/infrastructure/database/connection.ts';
import { createTestDatabase, openTestDatabase } from '../support/database.ts';
import { startPooler } from '../support/pooler.ts';
import { without } from '../support/requirements.ts';
import { until } from '../support/until.ts';

/** Tries again, because a server that does not answer in time passes. */
const rejection = (url: string) =>
  until('a rejection', () =>
    checkServer(url).then(
      () => undefined,
      (error: Error) => error,
    ),
  );

t.test('a database with which the service would fail later is rejected at the start', async (t) => {
  const url = await createTestDatabase();
  await checkServer(url);
  t.match(await rejection(`${url}?sslmode=require`), { message: /does not support SSL/ });
  await checkServer(url.replace(/:\d+\//, ':1/'));
});

t.test('a transaction pooler is rejected at the start', { skip: without('pgbouncer') }, async (t) => {
  const url = await startPooler(t, await createTestDatabase());
  t.match(await rejection(url), { message: /set DATABASE_DIRECT_URL/ });
});

t.test('a version that is too old is rejected at the start', async (t) => {
  const url = await createTestDatabase();
  const { pool } = openTestDatabase(t, url);
  await pool.query(`
    CREATE FUNCTION public.current_setting(name text) RETURNS text LANGUAGE sql
    RETURN CASE name WHEN 'server_version_num' THEN '130011' ELSE pg_catalog.current_setting(name) END`);
  await pool.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = public, pg_catalog`);
  t.match(await rejection(url), { message: 'the database is PostgreSQL 13: 14 or newer is needed' });
});
