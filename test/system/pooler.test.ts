import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { startEmbeddedServer } from '../../src/development/embedded-postgres/server.ts';
import { openStream } from '../notifications/streams.ts';
import { codeIn, createTestApp, password, signUpUser } from '../support/app.ts';
import { unavailable } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { createTestDatabase } from '../support/database.ts';
import { openTwoShops, requestPartnership } from '../support/partner-requests.ts';
import { startPooler } from '../support/pooler.ts';
import { without } from '../support/requirements.ts';
import { createTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { clusterFolder, temporaryFolder } from './embedded-postgres/support.ts';

const skip = without('pgbouncer');

t.test('behind PgBouncer in transaction mode', { skip }, async (t) => {
  const database = await createTestDatabase();
  const databaseUrl = await startPooler(t, database);
  const app = await createTestApp({ DATABASE_DIRECT_URL: database }, { serverErrors: true, databaseUrl });
  t.teardown(app.close);
  await app.app.listen({ host: '127.0.0.1', port: 0 });

  await t.test('a request reaches the receiver by stream and by mail', async (t) => {
    const { sender, receiver, post } = await openTwoShops(app);
    await app.call('POST', '/auth/email-verify/send/', { body: { email: receiver.email } });
    const code = codeIn(await app.mails.next(receiver.email));
    const confirm = { email: receiver.email, code };
    const { token } = receiver;
    t.equal((await app.call('POST', '/auth/email-verify/confirm/', { body: confirm, token })).status, 200);
    const stream = await openStream(t, app, receiver.token);
    const key = { 'idempotency-key': 'once' };
    const sent = await inParallel(8, () => requestPartnership(app, sender, post, key));
    t.strictSame(new Set(sent.map(({ status, text }) => `${status} ${text}`)).size, 1);
    t.equal(sent[0]?.status, 201);
    await stream.until(() => stream.ids().length === 1);
    t.match(await app.mails.next(receiver.email, 1), { subject: /두레 베이커리/ });
  });
});

t.test('a planned switchover, after which connections stay on the demoted server', { skip }, async (t) => {
  const [oldFolder, newFolder] = [await clusterFolder(t, true), await temporaryFolder(t)];
  const oldPrimary = await startEmbeddedServer({ directory: oldFolder });
  const proxy = await createTcpProxy(t, oldPrimary.url);
  const databaseUrl = await startPooler(t, proxy.url);
  const app = await createTestApp({ DATABASE_DIRECT_URL: proxy.url }, { serverErrors: true, databaseUrl });
  t.teardown(app.close);
  await app.app.listen({ host: '127.0.0.1', port: 0 });
  const { token, username } = await signUpUser(app);
  const rename = () => app.call('PATCH', '/auth/me/', { token, body: { name: '김두레' } });
  const findId = () => app.call('POST', '/auth/find-id/', { body: { email: 'nobody@example.com' } });
  const login = () => app.call('POST', '/auth/login/', { body: { username, password } });
  const ready = async () => (await app.call('GET', '/health/ready')).status;
  t.equal((await rename()).status, 200);

  await oldPrimary.stop();
  await cp(join(oldFolder, 'cluster'), join(newFolder, 'cluster'), { recursive: true });
  await cp(join(oldFolder, 'password'), join(newFolder, 'password'));
  await writeFile(join(oldFolder, 'cluster/standby.signal'), '');
  const { port } = new URL(oldPrimary.url);
  void startEmbeddedServer({ directory: oldFolder, port: Number(port) }).catch(() => undefined);
  const newPrimary = await startEmbeddedServer({ directory: newFolder });
  t.teardown(newPrimary.stop);

  const isRead = async () => (await app.call('GET', '/auth/me/', { token })).status === 200;
  await until('reads from the demoted server', isRead);
  for (const write of [rename, findId, login]) unavailable(t, await write());
  t.equal(await ready(), 503, 'not ready on a standby');
  t.match((await app.call('GET', '/metrics')).text, /^database_up 0$/m);

  proxy.redirect(newPrimary.url);
  const statuses: number[] = [];
  // Changes of one row wait for each other, each with a connection: all of the pooler are in use.
  await until('each connection was left', async () => {
    const renames = Array.from({ length: 6 }, rename);
    const round = (await Promise.all([...renames, findId(), login()])).map(({ status }) => status);
    statuses.push(...round);
    return round.every((status) => status === 200) && (await ready()) === 200;
  });
  const count = (status: number) => statuses.filter((one) => one === status).length;
  t.comment(`${count(200)} responses 200, ${count(503)} 503, ${count(500)} 500`);
  t.equal(count(200) + count(503), statuses.length);
  t.notOk(app.logs.some((line) => JSON.parse(line).status === 500));
  const user = await signUpUser(app);
  await app.mails.next(user.email);
});
