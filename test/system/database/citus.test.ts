import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { migrate } from '../../../src/infrastructure/database/migrations.ts';
import { createPair } from '../../notifications/streams.ts';
import { tellStory } from '../../openapi/story.ts';
import { createTestApp, deleteAccount, readPages, type TestApp } from '../../support/app.ts';
import { unavailable } from '../../support/assertions.ts';
import { inParallel } from '../../support/concurrency.ts';
import { databaseUrl, execute, stopCron } from '../../support/database.ts';
import { readText } from '../../support/files.ts';
import { cleanUp } from '../../support/images.ts';
import { notificationsOf, requestPartnership, sendRequest } from '../../support/partner-requests.ts';
import { createServer, postgresPrograms, rolePassword, startServer } from '../../support/postgres.ts';
import { run } from '../../support/processes.ts';
import { createPost, openShop } from '../../support/stores.ts';
import { until } from '../../support/until.ts';
import { clusterFolder } from '../embedded-postgres/support.ts';

/** Not `unless`: of the jobs of CI, one has the extension. */
const withoutCitus =
  postgresPrograms.skip ||
  (existsSync(join(postgresPrograms.folder, '../lib/citus.so'))
    ? false
    : 'the newest PostgreSQL here has no Citus: the job citus of .github/workflows/ci.yml has it');

const serverSettings = readText('deploy/citus/citus.conf')
  .split('\n')
  .filter((line) => /^\w/.test(line))
  .map((line) => line.replaceAll(/[ ']/g, ''))
  .concat('citus.enable_stat_counters=on');

t.test('on a Citus cluster', { skip: withoutCitus }, async (t) => {
  const { superuserUrl, workers, createDatabase, addThird } = await startCitus(t);

  await t.test('every operation responds as on one server, and reads or writes one shard', async (t) => {
    const [main, terms] = [await createDatabase('story'), await createDatabase('terms')];
    const before = await executionsIn(main);
    const { examples, app } = await tellStory(t, { main, terms });
    const documented = JSON.parse(readText('src/openapi/examples.json'));
    for (const [operation, example] of Object.entries(documented))
      t.strictSame(examples[operation], example, operation);
    const { ofOneShard, ofSeveral } = await executionsIn(main);
    t.ok(ofOneShard > before.ofOneShard);
    t.equal(ofSeveral, before.ofSeveral);
    t.strictSame(problemsOf(app), []);
    await app.close();
  });

  const kept: { receiver: { id: number; token: string }; ids: number[] }[] = [];
  const settings = {
    JWT_SECRET: 'that of the service before and after 0123',
    QUOTA_REQUESTS_PER_DAY: '0',
    QUOTA_POSTS_PER_DAY: '0',
  };
  const url = await createDatabase('grown', async (url) => {
    const app = await createTestApp(settings, { databaseUrl: url });
    for (let count = 0; count < 3; count++) {
      const { receiver, notify } = await createPair(app);
      await notify(3);
      kept.push({ receiver, ids: await idsOf(app, receiver) });
    }
    await app.close();
  });
  const environment = { ...settings, NOTIFICATION_TTL: '30d' };
  const app = await createTestApp(environment, { databaseUrl: url, serverErrors: true });
  t.teardown(app.close);

  await t.test('notifications of before are there, with the same indexes', async (t) => {
    t.equal(kept.length, 3);
    for (const { receiver, ids } of kept) {
      t.equal(ids.length, 3);
      t.strictSame(await idsOf(app, receiver), ids);
    }
    const names = `SELECT indexname FROM pg_indexes WHERE tablename = 'notifications' ORDER BY 1`;
    const single = await createTestApp();
    t.strictSame((await app.pool.query(names)).rows, (await single.pool.query(names)).rows);
  });

  await t.test('clean-up and deletion of an account delete notifications on all workers', async (t) => {
    const receivers = [await shopOn(app, workers[0].port), await shopOn(app, workers[1].port)];
    const sender = await openShop(app, '두레 베이커리');
    for (const receiver of receivers) {
      for (let count = 0; count < 3; count++)
        await sendRequest(app, sender, await createPost(app, receiver.token));
      const [newest] = await idsOf(app, receiver);
      const body = { ids: [newest] };
      await app.call('POST', '/api/v1/notifications/mark-read/', { token: receiver.token, body });
    }
    await app.pool.query(`UPDATE notifications SET created_at = now() - interval '40 days'`);
    await cleanUp(app);
    for (const receiver of receivers)
      t.match(await notificationsOf(app, receiver), { items: { length: 2 }, unread_count: 2 });
    for (const receiver of receivers) t.equal((await deleteAccount(app, receiver)).status, 200);
    const left = 'SELECT FROM notifications WHERE user_id = ANY ($1)';
    t.equal((await app.pool.query(left, [receivers.map(({ id }) => id)])).rowCount, 0);
    t.strictSame(problemsOf(app), []);
  });

  await t.test('a worker crashes and comes back: no acknowledged request is lost', async (t) => {
    const [crashing, other] = [await shopOn(app, workers[0].port), await shopOn(app, workers[1].port)];
    const sender = await openShop(app, '두레 베이커리');
    const acknowledged: number[] = [];
    const sent = inParallel(4, async () => {
      for (;;) {
        const response = await requestPartnership(app, sender, await createPost(app, crashing.token));
        if (response.status !== 201) return unavailable(t, response);
        acknowledged.push(response.body.data.id);
      }
    });
    await until('some requests', () => acknowledged.length >= 8);
    await workers[0].crash();
    await sendRequest(app, sender, await createPost(app, other.token));
    t.equal((await notificationsOf(app, other)).unread_count, 1, 'users of the other worker notice nothing');
    unavailable(t, await app.call('GET', '/api/v1/notifications/mypage/', { token: crashing.token }));
    await sent;

    await workers[0].start();
    await sendRequest(app, sender, await createPost(app, crashing.token));
    const unfinished = () => execute(workers[0].superuserUrl, 'SELECT gid FROM pg_prepared_xacts');
    await until('the end of prepared transactions', async () => (await unfinished()).length === 0);
    const idsIn = async (select: string, id: number) =>
      (await app.pool.query<{ id: number }>(select, [id])).rows.map(({ id }) => id);
    const requestsOf = 'SELECT partner_request_id::int AS id FROM notifications WHERE user_id = $1';
    const ids = await idsIn(requestsOf, crashing.id);
    const received = 'SELECT id::int FROM partner_requests WHERE receiver_store_id = $1';
    const requests = await idsIn(received, crashing.store.id);
    const lost = acknowledged.filter((id) => !ids.includes(id));
    t.strictSame(lost, []);
    t.strictSame(ids.toSorted(), requests.toSorted(), 'each request has its notification, and vice versa');
    t.equal((await notificationsOf(app, crashing)).unread_count, ids.length);
  });

  await t.test('a third worker takes its share of the shards while notifications are added', async (t) => {
    const pairs = await inParallel(3, () => createPair(app));
    const placements = `SELECT nodeport, count(*)::int FROM pg_dist_shard_placement JOIN pg_dist_shard USING (shardid)
      WHERE logicalrelid = 'notifications'::regclass GROUP BY 1 ORDER BY 2`;
    const shares = async () => (await app.pool.query(placements)).rows.map(({ count }): number => count);
    t.strictSame(await shares(), [16, 16]);
    await addThird('grown');
    let isMoving = true;
    const database = databaseUrl(superuserUrl, 'grown');
    await execute(database, 'SELECT citus_rebalance_start()');
    const moved = execute(database, 'SELECT citus_rebalance_wait()').finally(() => (isMoving = false));
    const added = await Promise.all(
      pairs.map(async ({ receiver, notify }) => {
        let count = 0;
        for (; isMoving || count < 4; count++) await notify();
        return { receiver, count };
      }),
    );
    await moved;
    t.strictSame(await shares(), [10, 11, 11]);
    for (const { receiver, count } of added)
      t.equal((await notificationsOf(app, receiver)).unread_count, count);
    for (const { receiver, ids } of kept) t.strictSame(await idsOf(app, receiver), ids);
  });
});

/** How many executions of statements on distributed tables a database has had, by the number of their shards. */
async function executionsIn(url: string): Promise<{ ofOneShard: number; ofSeveral: number }> {
  const counter = (name: string) =>
    execute(url, `SELECT ${name}::int FROM citus_stat_counters WHERE name = current_database()`);
  const [[ofOneShard], [ofSeveral]] = [
    await counter('query_execution_single_shard'),
    await counter('query_execution_multi_shard'),
  ];
  return { ofOneShard: Number(ofOneShard), ofSeveral: Number(ofSeveral) };
}

/** A shop whose owner has notifications on a worker. */
async function shopOn(app: TestApp, port: number) {
  return until(`a user on the worker at ${port}`, async () => {
    const shop = await openShop(app, '햇살카페');
    const { rowCount } = await app.pool.query(
      `SELECT FROM pg_dist_shard_placement
       WHERE shardid = get_shard_id_for_distribution_column('notifications', $1::int) AND nodeport = $2`,
      [shop.id, port],
    );
    return rowCount === 0 ? undefined : shop;
  });
}

async function idsOf(app: TestApp, shop: { token: string }): Promise<number[]> {
  return (
    await readPages((cursor) => app.call('GET', `/api/v1/notifications/mypage/?limit=100${cursor}`, shop))
  ).flat();
}

/** What an app logged as a warning or as an error. */
function problemsOf({ logs }: TestApp): unknown[] {
  return logs.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
}

/** Starts a coordinator and workers, as deploy/citus sets them up, until the test ends. Each database has the first two of them. */
async function startCitus(t: Test) {
  const folder = await clusterFolder(t);
  const start = async (name: string) => {
    await mkdir(join(folder, name));
    return createServer(t, join(folder, name), serverSettings);
  };
  const coordinator = await start('coordinator');
  const [first, second, third] = [await start('first'), await start('second'), await start('third')];
  const servers = [coordinator, first, second, third];

  function workerIn(name: string, server: typeof first) {
    const port = server.superuser.PGPORT;
    let { stop } = server;
    return {
      port: Number(port),
      superuserUrl: server.superuserUrl,
      /** It recovers at its next start. */
      crash: () => stop('SIGQUIT'),
      async start() {
        ({ stop } = await startServer(t, join(folder, name, 'cluster'), serverSettings, port));
      },
    };
  }

  async function addWorkers(name: string, workers: (typeof first)[]): Promise<void> {
    const env = { ...coordinator.superuser, PGDATABASE: name, DURE_PASSWORD: rolePassword };
    const places = workers.map(({ superuser: { PGHOST, PGPORT } }) => `${PGHOST}:${PGPORT}`);
    await run('deploy/citus/add-workers.sh', places, { env });
  }

  /** Creates a database on all servers, migrates it and distributes its tables. @param fill called before that, with its URL */
  async function createDatabase(name: string, fill?: (url: string) => Promise<void>): Promise<string> {
    for (const { superuserUrl } of servers) await execute(superuserUrl, `CREATE DATABASE ${name} OWNER dure`);
    await addWorkers(name, [first, second]);
    const url = databaseUrl(coordinator.url, name);
    await migrate(url);
    await execute(url, ...['clean_up', 'send_saved_search_digests'].map(stopCron));
    await fill?.(url);
    const file = '--file=deploy/citus/distribute.sql';
    await run('psql', ['--no-psqlrc', '--quiet', '--single-transaction', file, url], {
      env: coordinator.superuser,
    });
    return url;
  }

  return {
    /** The coordinator, as the superuser. */
    superuserUrl: coordinator.superuserUrl,
    workers: [workerIn('first', first), workerIn('second', second)] as const,
    createDatabase,
    /** Adds the third worker to a database. */
    addThird: (name: string) => addWorkers(name, [third]),
  };
}
