import t from 'tap';
import { checkServer } from '../../src/infrastructure/database/connection.ts';
import { createTestDatabase, openTestDatabase } from '../support/database.ts';
import { startPooler } from '../support/pooler.ts';

t.test('a database with which the service would fail later is rejected at the start', async (t) => {
  const url = await createTestDatabase();
  await checkServer(url);
  await t.rejects(checkServer(`${url}?sslmode=require`), { message: /does not support SSL/ });
  await t.rejects(checkServer(await startPooler(t, url)), { message: /set DATABASE_DIRECT_URL/ });
  await checkServer(url.replace(/:\d+\//, ':1/'));
});

t.test('a version that is too old is rejected at the start', async (t) => {
  const url = await createTestDatabase();
  const { pool } = openTestDatabase(t, url);
  await pool.query(`
    CREATE FUNCTION public.current_setting(name text) RETURNS text LANGUAGE sql
    RETURN CASE name WHEN 'server_version_num' THEN '130011' ELSE pg_catalog.current_setting(name) END`);
  await pool.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = public, pg_catalog`);
  await t.rejects(checkServer(url), { message: 'the database is PostgreSQL 13: 14 or newer is needed' });
});
