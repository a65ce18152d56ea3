import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import t from 'tap';
import { migrate } from '../../src/infrastructure/database/migrations.ts';
import { root, temporaryFolder } from '../support/files.ts';
import { createServer, postgresPrograms } from '../support/postgres.ts';

t.test('the role of the service owns its database only', { skip: postgresPrograms.skip }, async (t) => {
  const { url } = await createServer(t, temporaryFolder(t));
  await migrate(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  const { rows } = await client.query(`
    SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
      ARRAY(SELECT datname::text FROM pg_database WHERE datallowconn AND has_database_privilege(datname, 'CONNECT') ORDER BY 1) AS reachable
    FROM pg_roles WHERE rolname = current_user`);
  t.strictSame(rows, [
    {
      rolsuper: false,
      rolcreatedb: false,
      rolcreaterole: false,
      rolreplication: false,
      rolbypassrls: false,
      reachable: ['dure'],
    },
  ]);
  await t.rejects(client.query('CREATE DATABASE other'), { code: '42501' });
});

t.test('the image gives Node.js threads for all cores, unless it has a number', async (t) => {
  const print = 'process.stdout.write(process.env.UV_THREADPOOL_SIZE)';
  const { UV_THREADPOOL_SIZE: _, ...env } = process.env;
  const read = (variables: Record<string, string>) =>
    spawnSync('sh', [join(root, 'deploy/entrypoint.sh'), 'node', '-e', print], {
      env: { ...env, ...variables },
      encoding: 'utf8',
    }).stdout;
  t.equal(read({}), String(Math.max(4, 2 * availableParallelism())));
  t.equal(read({ UV_THREADPOOL_SIZE: '7' }), '7');
});
