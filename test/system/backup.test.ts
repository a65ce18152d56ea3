import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { migrate } from '../../src/infrastructure/database/migrations.ts';
import { createTestApp, logIn, relayed, signUpUser, type TestApp } from '../support/app.ts';
import { lockRows } from '../support/concurrency.ts';
import { execute } from '../support/database.ts';
import { root } from '../support/files.ts';
import { freePort } from '../support/free-port.ts';
import { uploadImage } from '../support/images.ts';
import {
  openTwoVerifiedShops,
  requestPartnership,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { unless } from '../support/requirements.ts';
import { createPost } from '../support/stores.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const scriptOf = (path: string) => join(root, path);

/** The programs of a server with its own pg_dump: that of another version may reject. */
function findPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions
    .map((version) => join(root, version, 'bin'))
    .find((folder) =>
      ['postgres', 'initdb', 'pg_dump', 'psql'].every((name) => existsSync(join(folder, name))),
    );
}

const programs = findPrograms();

interface Server {
  /** Environment of the scripts: the programs, and the connection of the superuser. */
  superuser: Record<string, string>;
  /** Database and role of the service. */
  url: string;
}

const passwords = { superuser: 'b81f0c27d9e64a35', dure: 'c4d7e0f3a6b9c2d5' };

/** Starts a PostgreSQL server as compose.yaml does, with the role of the service. */
async function startServer(t: Test, folder: string): Promise<Server> {
  const bin = programs ?? '';
  const port = String(await freePort());
  const cluster = join(folder, 'cluster');
  writeFileSync(join(folder, 'password'), passwords.superuser);
  // PostgreSQL does not run as root.
  const asUser =
    process.getuid?.() === 0 ? ['unshare', '--user', '--map-user=65534', '--map-group=65534'] : [];
  const command = (name: string, ...args: string[]) => [...asUser, join(bin, name), '-D', cluster, ...args];
  const options = ['-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${join(folder, 'password')}`, '-N'];
  const [initdb = '', ...initdbArgs] = command('initdb', ...options, '--encoding=UTF8', '--locale=C.UTF-8');
  await run(initdb, initdbArgs);
  const [postgres = '', ...args] = command(
    'postgres',
    ...['-p', port, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'fsync=off'],
  );
  const server: ChildProcess = spawn(postgres, args, { stdio: 'ignore' });
  t.teardown(async () => {
    server.kill('SIGINT');
    if (server.exitCode === null) await once(server, 'exit');
  });
  const superuser = {
    PATH: `${bin}:${process.env['PATH']}`,
    PGHOST: '127.0.0.1',
    PGPORT: port,
    PGUSER: 'postgres',
    PGPASSWORD: passwords.superuser,
  };
  const url = `postgresql://postgres:${passwords.superuser}@127.0.0.1:${port}/postgres`;
  const accepts = () =>
    execute(url, 'SELECT 1').then(
      () => true,
      () => false,
    );
  await until('PostgreSQL', accepts);
  await run(scriptOf('deploy/postgres/create-role.sh'), {
    env: { ...superuser, POSTGRES_USER: 'postgres', DURE_PASSWORD: passwords.dure },
  });
  return { superuser, url: `postgresql://dure:${passwords.dure}@127.0.0.1:${port}/dure` };
}

/** The status of the large file of an image. */
async function statusOf({ call }: TestApp, { url }: { url: string }): Promise<number> {
  return (await call('GET', new URL(url).pathname)).status;
}

t.test(
  'a backup brings back the database and the images, and nothing else',
  { skip: unless(programs !== undefined, 'there is no PostgreSQL server with pg_dump here') },
  async (t) => {
    const folder = t.testdir();
    const { superuser, url } = await startServer(t, folder);
    await migrate(url);
    const environment = { DATA_DIR: join(folder, 'data') };
    const environmentOfScripts = { ...superuser, ...environment, DURE_PASSWORD: passwords.dure };
    const backUp = async () => {
      const own = { PGUSER: 'dure', PGPASSWORD: passwords.dure, PGDATABASE: 'dure' };
      const env = { ...environmentOfScripts, ...own };
      return (
        await run(scriptOf('deploy/backup/backup.sh'), [join(folder, 'backups')], { env })
      ).stdout.trim();
    };
    const restore = (backup: string) =>
      run(scriptOf('deploy/backup/restore.sh'), [backup], { env: environmentOfScripts });

    // A service with rows, images, and emails that wait.
    const before = await createTestApp({ ...environment, WORKER_ENABLED: 'false' }, { databaseUrl: url });
    const { sender, receiver, post } = await openTwoVerifiedShops(before);
    const image = await uploadImage(before, receiver.token);
    const pictured = await createPost(before, receiver.token, { title: '봄꽃 세트', images: [image.url] });
    const request = await sendRequest(before, sender, post);
    await relayed(before);
    const { rows: waiting } = await before.pool.query(
      'SELECT count(*)::int AS mails FROM graphile_worker.jobs',
    );
    t.ok(waiting[0].mails > 0);
    await before.pool.query(`INSERT INTO outbox (mail) VALUES ('{"kind": "partner_request_ended"}')`);
    const relay = await lockRows(t, before, 'SELECT FROM outbox FOR UPDATE');
    const backup = await backUp();
    await relay.release();

    // What happens after the backup, and is lost.
    const late = await signUpUser(before);
    const lateImage = await uploadImage(before, receiver.token);
    t.equal((await transition(before, receiver, request, 'accept')).status, 200);
    t.equal(
      (await before.call('DELETE', `/api/v1/posts/${pictured.id}/`, { token: receiver.token })).status,
      200,
    );

    await t.test('a restore rejects while the service is connected, and changes nothing', async (t) => {
      await t.rejects(restore(backup), /being accessed by other users/);
      t.equal((await before.call('GET', '/auth/me/', { token: late.token })).status, 200);
      t.equal(await statusOf(before, lateImage), 200);
    });

    await before.close();
    const superuserUrl = url.replace(`dure:${passwords.dure}`, `postgres:${passwords.superuser}`);
    await execute(superuserUrl.replace(/dure$/, 'postgres'), 'DROP DATABASE dure');
    rmSync(environment.DATA_DIR, { recursive: true });
    await run('mkdir', [environment.DATA_DIR]);
    await restore(backup);
    t.strictSame(await migrate(url), [], 'no migration is left to apply');

    const after = await createTestApp(environment, { databaseUrl: url });
    t.teardown(after.close);
    await t.test('rows and images of the backup are back, and nothing after it', async (t) => {
      const { token } = await logIn(after, receiver);
      const response = await after.call('GET', `/api/v1/posts/${pictured.id}/`, { token });
      t.match(response.body.data, { title: '봄꽃 세트', images: [image.url] });
      t.equal(await statusOf(after, image), 200);
      t.equal(await statusOf(after, lateImage), 404);
      const found = await after.call('GET', `/api/v1/posts/?q=${encodeURIComponent('꽃세트')}`, { token });
      t.strictSame(
        found.body.data.items.map(({ id }: { id: number }) => id),
        [pictured.id],
      );
      const { body } = await after.call('GET', `/api/v1/notifications/partner-request/${request}/`, {
        token,
      });
      t.equal(body.data.status, '요청됨');
      t.rejects(logIn(after, late), /invalid_credentials/);
    });

    await t.test('every session has ended', async (t) => {
      for (const { token } of [sender, receiver]) {
        t.equal((await after.call('GET', '/auth/me/', { token })).status, 401);
      }
    });

    await t.test('emails that waited are not sent, and kept for the operator', async (t) => {
      await after.mails.settled();
      t.strictSame(after.mails.sent, []);
      const { rows } = await after.pool.query('SELECT kind, reason FROM failed_mails ORDER BY kind');
      const reason = 'waited when the backup was made';
      t.strictSame(rows, [
        { kind: 'partner_request_ended', reason },
        { kind: 'partner_request_received', reason },
      ]);
    });

    await t.test('new rows get ids that were never used, and triggers count', async (t) => {
      const user = await signUpUser(after);
      t.ok(user.id > late.id);
      const { token } = await logIn(after, sender);
      const again = await requestPartnership(after, { token }, pictured);
      t.equal(again.status, 201);
      t.ok(again.body.data.id > request);
      const own = await logIn(after, receiver);
      const { body } = await after.call('GET', '/api/v1/notifications/unread-count/', { token: own.token });
      t.equal(body.data.unread_count, 2);
      await after.pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [sender.id]);
      t.equal((await after.call('GET', '/auth/me/', { token })).status, 401);
    });

    await t.test('the role of the service owns everything', async (t) => {
      const { rows } = await after.pool.query(`
      SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
      WHERE nspname IN ('public', 'graphile_worker') AND relkind IN ('r', 'S', 'v')`);
      t.strictSame(rows, [{ owner: 'dure' }]);
    });
  },
);
