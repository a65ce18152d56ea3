import { execFile, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import t from 'tap';
import { startEmbeddedServer } from '../../src/development/embedded-postgres/server.ts';
import { migrate } from '../../src/infrastructure/database/migrations.ts';
import { databaseUrl, execute } from '../support/database.ts';
import { root } from '../support/files.ts';
import { without } from '../support/requirements.ts';
import { clusterFolder } from './embedded-postgres/support.ts';

const fileOf = (path: string) => join(root, path);

t.test('the role of the service owns its database only', { skip: without('psql') }, async (t) => {
  const server = await startEmbeddedServer({ directory: await clusterFolder(t) });
  t.teardown(server.stop);
  // The embedded server has a role and a database of these names.
  const postgres = databaseUrl(server.url, 'postgres');
  const superuser = new URL(postgres);
  superuser.username = 'postgres';
  superuser.password = 'superuser';
  await execute(postgres, "CREATE ROLE postgres SUPERUSER LOGIN PASSWORD 'superuser'", 'DROP DATABASE dure');
  await execute(superuser.href, 'ALTER ROLE dure RENAME TO embedded');
  const password = "quote'd";
  await promisify(execFile)(fileOf('deploy/postgres/create-role.sh'), {
    env: {
      PATH: process.env.PATH,
      PGHOST: superuser.hostname,
      PGPORT: superuser.port,
      PGPASSWORD: superuser.password,
      POSTGRES_USER: superuser.username,
      POSTGRES_DB: 'postgres',
      DURE_PASSWORD: password,
    },
  });
  const url = new URL(databaseUrl(server.url, 'dure'));
  url.username = 'dure';
  url.password = encodeURIComponent(password);
  await migrate(url.href);

  const client = new pg.Client({ connectionString: url.href });
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
    spawnSync('sh', [fileOf('deploy/entrypoint.sh'), 'node', '-e', print], {
      env: { ...env, ...variables },
      encoding: 'utf8',
    }).stdout;
  t.equal(read({}), String(Math.max(4, 2 * availableParallelism())));
  t.equal(read({ UV_THREADPOOL_SIZE: '7' }), '7');
});
