import { spawn, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { openStream } from './notifications/streams.ts';
import { codeIn, createTestApp, logIn } from './support/app.ts';
import { inParallel } from './support/concurrency.ts';
import { createTestDatabase, execute } from './support/database.ts';
import { freePort } from './support/free-port.ts';
import { openTwoShops, requestsPath } from './support/partner-requests.ts';
import { until } from './support/until.ts';

const noPooler = spawnSync('pgbouncer', ['--version']).error ? 'there is no pgbouncer here' : false;

/** Starts PgBouncer in front of a database, with fewer connections than the app has. */
async function startPooler(t: Test, databaseUrl: string): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const ownPort = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'dure-pooler-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'pgbouncer.ini');
  const target = `host=${hostname} port=${port || 5432} user=${username} password='${decodeURIComponent(password)}'`;
  const settings = [
    '[databases]',
    `* = ${target}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${ownPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 3',
  ];
  await writeFile(file, `${settings.join('\n')}\n`);
  // It refuses to run as root.
  await chmod(directory, 0o755);
  const isRoot = process.getuid?.() === 0;
  const pooler = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), file], { stdio: 'ignore' });
  t.teardown(() => pooler.kill('SIGKILL'));
  const url = `postgresql://app@127.0.0.1:${ownPort}${pathname}`;
  const accepts = () =>
    execute(url, 'SELECT 1').then(
      () => true,
      () => false,
    );
  await until('PgBouncer', accepts, 10);
  return url;
}

t.test('behind PgBouncer in transaction mode', { skip: noPooler }, async (t) => {
  const database = await createTestDatabase();
  t.teardown(database.drop);
  const databaseUrl = await startPooler(t, database.url);
  const app = await createTestApp({ DATABASE_DIRECT_URL: database.url }, { databaseUrl });
  t.teardown(app.close);
  await app.app.listen({ host: '127.0.0.1', port: 0 });

  await t.test('a request reaches the receiver by stream and by mail', async (t) => {
    const { sender, receiver, post } = await openTwoShops(app);
    const code = codeIn(await app.mails.next(receiver.email));
    const confirm = { email: receiver.email, code };
    t.equal((await app.call('POST', '/auth/email-verify/confirm/', { body: confirm })).status, 200);
    const stream = await openStream(t, app, receiver.token);
    const body = { post_id: post.id, message: '함께 해요!' };
    const headers = { 'idempotency-key': 'once' };
    const sent = await inParallel(8, () =>
      app.call('POST', requestsPath, { token: sender.token, body, headers }),
    );
    t.strictSame(new Set(sent.map(({ status, text }) => `${status} ${text}`)).size, 1);
    t.equal(sent[0]?.status, 201);
    await stream.until(() => stream.ids().length === 1);
    t.match(await app.mails.next(receiver.email, 1), { subject: /두레 베이커리/ });
  });

  await t.test('concurrent requests get their own answers', async (t) => {
    const { sender, receiver } = await openTwoShops(app);
    const answers = await inParallel(200, (index) =>
      app.call('GET', '/auth/me/', { token: (index % 2 ? sender : receiver).token }),
    );
    answers.forEach(({ status, body }, index) => {
      t.equal(status, 200);
      t.equal(body.data.id, (index % 2 ? sender : receiver).id);
    });
    const again = await logIn(app, sender);
    t.equal((await app.call('POST', '/auth/logout/', { token: again.token })).status, 200);
    t.equal((await app.call('GET', '/auth/me/', { token: again.token })).status, 401);
  });
});
