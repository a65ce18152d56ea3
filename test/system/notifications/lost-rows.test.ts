import t from 'tap';
import {
  createListeningApp,
  createNotifier,
  createPair,
  openStream,
  storedIds,
} from '../../notifications/streams.ts';
import { inParallel } from '../../support/concurrency.ts';
import { execute } from '../../support/database.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { startCluster } from '../database/standby.ts';

t.test('after a failover that loses rows, streams get each new notification once', async (t) => {
  const { url, stop, standby } = await startCluster(t);
  const proxy = await createTcpProxy(t, url);
  const app = await createListeningApp({}, { databaseUrl: proxy.url, serverErrors: true });
  t.teardown(app.close);
  const { receiver, postId, notify } = await createPair(app);
  await notify(3);
  const [position] = await execute(url, 'SELECT pg_current_wal_lsn()');
  await until('the standby', async () =>
    (await execute(standby.url, `SELECT pg_last_wal_replay_lsn() >= '${position}'`)).includes(true),
  );
  await standby.execute("ALTER SYSTEM SET primary_conninfo = ''");
  await standby.execute('SELECT pg_reload_conf()');
  await until('a standby that receives nothing', async () =>
    (await execute(url, 'SELECT count(*)::int FROM pg_stat_replication')).includes(0),
  );

  // More than the 32 ids of a sequence that one record of the WAL covers.
  const stream = await openStream(t, app, receiver.token);
  const dropped = await openStream(t, app, receiver.token);
  await notify(60);
  for (const { until, ids } of [stream, dropped]) await until(() => ids().length === 60);
  dropped.drop();
  const kept = (await storedIds(app, receiver.id)).slice(0, 3);

  await proxy.cut();
  await stop();
  await standby.execute('SELECT pg_promote()');
  proxy.redirect(standby.url);
  await proxy.restore();
  const ready = async () => (await app.call('GET', '/health/ready')).status === 200;
  await until('the new primary', ready);
  t.strictSame(await storedIds(app, receiver.id), kept, 'rows are lost');

  const lastId = String(dropped.ids().at(-1));
  const resumed = await openStream(t, app, receiver.token, { 'last-event-id': lastId });
  const notifiers = await inParallel(4, () => createNotifier(app, postId));
  await Promise.all(notifiers.map((notifyOnce) => notifyOnce(2)));
  const late = await openStream(t, app, receiver.token, { 'last-event-id': lastId });
  const added = (await storedIds(app, receiver.id)).slice(kept.length);
  t.equal(added.length, 8);
  t.ok((added.at(-1) ?? 0) - (added[0] ?? 0) < 1_000_000, 'ids are skipped once');
  const seen = stream.ids().slice(0, 60);
  for (const [name, opened, before] of [
    ['a stream that was open', stream, seen],
    ['one that was resumed before', resumed, []],
    ['one that was resumed after', late, []],
  ] as const) {
    await opened.until(() => opened.ids().length >= before.length + added.length);
    t.strictSame(opened.ids(), [...before, ...added], name);
  }
});
