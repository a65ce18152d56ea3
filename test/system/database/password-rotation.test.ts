import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import t from 'tap';
import { migrate } from '../../../src/infrastructure/database/migrations.ts';
import { createTestApp, logIn, signUpUser } from '../../support/app.ts';
import { execute, untilAccepted } from '../../support/database.ts';
import { readText, root, temporaryFolder } from '../../support/files.ts';
import { freePort } from '../../support/free-port.ts';
import { asPostgres, createServer, postgresPrograms, rolePassword } from '../../support/postgres.ts';
import { run } from '../../support/processes.ts';
import { without } from '../../support/requirements.ts';

const skip = postgresPrograms.skip || without('pgbouncer');

t.test('a second role replaces the database password, without a failed request', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const server = await createServer(t, folder);
  await migrate(server.url);
  const port = await freePort();
  const environment = {
    PATH: process.env['PATH'],
    USERS_FILE: join(folder, 'users.txt'),
    PGBOUNCER_FILE: join(folder, 'pgbouncer.ini'),
  };
  const settings = readText('deploy/pgbouncer/pgbouncer.ini')
    .replace('host=postgres port=5432', `host=127.0.0.1 port=${server.superuser.PGPORT}`)
    .replace(/^listen_port.*/m, `listen_port = ${port}`)
    .replace(/^auth_file.*/m, `auth_file = ${environment.USERS_FILE}`);
  await writeFile(environment.PGBOUNCER_FILE, settings);
  const entrypoint = join(root, 'deploy/pgbouncer/entrypoint.sh');
  const old = { DURE_ROLE: 'dure', DURE_PASSWORD: rolePassword };
  const STATS_PASSWORD = 'f6a9b2c5d8e1f4a7';
  const [command = '', ...args] = [...asPostgres, entrypoint];
  const startPooler = () => {
    const env = { ...environment, ...old, STATS_PASSWORD };
    const pooler = spawn(command, args, { env, stdio: 'ignore' });
    t.teardown(() => pooler.kill('SIGKILL'));
    return pooler;
  };
  const pooler = startPooler();

  const urlOf = ({ DURE_ROLE, DURE_PASSWORD }: typeof old, at: number | string = port) =>
    `postgresql://${DURE_ROLE}:${DURE_PASSWORD}@127.0.0.1:${at}/dure`;
  const start = (login: typeof old) => {
    const DATABASE_DIRECT_URL = urlOf(login, server.superuser.PGPORT);
    return createTestApp({ DATABASE_DIRECT_URL }, { databaseUrl: urlOf(login) });
  };
  const accepted = (login: typeof old) => untilAccepted(urlOf(login));
  await accepted(old);
  await execute(`postgresql://stats:${STATS_PASSWORD}@127.0.0.1:${port}/pgbouncer`, 'SHOW POOLS');
  await t.rejects(execute(`postgresql://dure:${rolePassword}@127.0.0.1:${port}/pgbouncer`, 'SHOW POOLS'));
  const before = await start(old);
  const user = await signUpUser(before);

  // Of an instance that stays until the other one is ready. A response of 500 or more fails the test.
  let rotated = false;
  t.teardown(() => (rotated = true));
  const statuses: number[] = [];
  const traffic = (async () => {
    while (!rotated) statuses.push((await before.call('GET', '/auth/me/', user)).status);
  })();

  const next = { DURE_ROLE: 'dure_2', DURE_PASSWORD: 'd5e8f1a4b7c0d3e6' };
  await run('psql', ['--no-psqlrc', '--dbname=postgres', '--file=deploy/pgbouncer/login-role.sql'], {
    env: { ...server.superuser, ...next },
  });
  await run(entrypoint, ['add'], { env: { ...environment, ...next, POOLER_PID: String(pooler.pid) } });
  await accepted(next);
  const after = await start(next);
  rotated = true;
  await traffic;
  t.strictSame([...new Set(statuses)], [200]);
  await before.close();

  await execute(server.superuserUrl, 'ALTER ROLE dure NOLOGIN');
  // As Docker does after a crash: with the environment of before the rotation.
  pooler.kill('SIGKILL');
  await once(pooler, 'exit');
  startPooler();
  await accepted(next);
  await logIn(after, user);
  await signUpUser(after);
  const { rows } = await after.pool.query('SELECT session_user AS login, current_user AS owner');
  t.strictSame(rows, [{ login: 'dure_2', owner: 'dure' }]);
});
