import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { rejected, tally } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import { openShop } from '../support/stores.ts';

const app = await createTestApp({}, { serverErrors: true });
const { token } = await openShop(app);
const { rows } = await app.pool.query<{ definition: string }>(
  "SELECT pg_get_functiondef('idempotency_slot(integer)'::regprocedure) AS definition",
);

/** Days end by the clock of the test. @param time SQL for the time of a statement */
const setClock = (time: string) =>
  app.pool.query(String(rows[0]?.definition.replace('statement_timestamp()', `(${time})::timestamptz`)));

const writePost = (key: string, title = key) =>
  app.call('POST', '/api/v1/posts/', {
    token,
    body: { title, content: '내용', images: [] },
    headers: { 'idempotency-key': key },
  });

const countPosts = async (title: string) =>
  (await app.pool.query('SELECT FROM posts WHERE title = $1', [title])).rowCount;

const age = (key: string, interval: string) =>
  app.pool.query(`UPDATE idempotency_keys SET created_at = now() - interval '${interval}' WHERE key = $1`, [
    key,
  ]);

/** Bytes of each partition. */
async function sizes(): Promise<number[]> {
  const { rows } = await app.pool.query<{ size: number }>(
    'SELECT pg_relation_size(relid) AS size FROM pg_partition_tree($1) WHERE isleaf ORDER BY relid::text',
    ['idempotency_keys'],
  );
  return rows.map(({ size }) => size);
}

async function cleanUp(): Promise<void> {
  await app.pool.query("SELECT graphile_worker.add_job('clean_up')");
  await app.mails.settled();
}

t.test('a key of yesterday is replayed within 24 hours and free after them', async (t) => {
  await setClock("'2026-03-01 12:00Z'");
  const first = await writePost('daily');
  await setClock("'2026-03-02 11:59Z'");
  await age('daily', '23 hours 59 minutes');
  const again = await writePost('daily');
  t.strictSame([again.status, again.text], [201, first.text]);
  t.equal(again.headers['idempotency-replayed'], 'true');
  rejected(t, await writePost('daily', 'other'), 409, 'idempotency_conflict');
  await setClock("'2026-03-02 12:01Z'");
  await age('daily', '24 hours 1 minute');
  const next = await writePost('daily');
  t.not(next.body.data.id, first.body.data.id);
  t.equal((await writePost('daily')).text, next.text);
  t.equal(await countPosts('daily'), 2);
});

t.test('of requests before and after midnight one does the work, the other gets its answer', async (t) => {
  // The end of a request of the first day waits for the test, and may fail.
  await app.pool.query(`
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_advisory_xact_lock(1);
      IF NEW.key = 'fails' THEN RAISE EXCEPTION USING ERRCODE = 'query_canceled'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER wait AFTER INSERT ON idempotency_keys FOR EACH ROW
    WHEN (NEW.key IN ('works', 'fails') AND NEW.day_slot = mod(date '2026-03-02' - date '1970-01-01', 3))
    EXECUTE FUNCTION wait()`);
  for (const [key, statuses] of [
    ['works', { '201': 2 }],
    ['fails', { '201': 1, '503 service_unavailable': 1 }],
  ] as const) {
    await setClock("'2026-03-02 23:59:59Z'");
    const lock = await lockRows(t, app, 'SELECT pg_advisory_xact_lock(1)');
    const before = writePost(key);
    await lock.waiters(1);
    await setClock("'2026-03-03 00:00:01Z'");
    const after = writePost(key);
    await lock.waiters(2);
    await lock.release();
    t.same(tally(await Promise.all([before, after])), statuses);
    t.equal(await countPosts(key), 1);
  }
});

t.test('the clean-up gives the storage of a day back once all of its keys have expired', async (t) => {
  await app.pool.query('TRUNCATE idempotency_keys');
  const days = ["'2026-03-01 12:00Z'", "'2026-03-02 12:00Z'", "'2026-03-03 12:00Z'", "'2026-03-04 12:00Z'"];
  const used: boolean[][] = [];
  for (const [index, day] of days.entries()) {
    await setClock(day);
    await cleanUp();
    await writePost(`day-${index}`);
    used.push((await sizes()).map((size) => size > 0));
  }
  const counts = used.map((partitions) => partitions.filter(Boolean).length);
  t.strictSame(counts, [1, 2, 2, 2], 'today and yesterday');
  t.not(String(used[1]), String(used[2]));
  t.equal((await writePost('day-3')).headers['idempotency-replayed'], 'true');
  t.equal((await writePost('day-2')).headers['idempotency-replayed'], 'true');
});

t.test('a partition that midnight turns into that of today is not emptied', async (t) => {
  await setClock("'2026-03-05 12:00Z'");
  await writePost('kept');
  const countKept = async () =>
    (await app.pool.query("SELECT FROM idempotency_keys WHERE key = 'kept'")).rowCount;
  // It is midnight once the partition is locked.
  await setClock(`CASE WHEN EXISTS (
    SELECT FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation::regclass::text LIKE 'idempotency_keys_%'
  ) THEN '2026-03-08 00:00:01Z' ELSE '2026-03-07 23:59:59Z' END`);
  await cleanUp();
  t.equal(await countKept(), 1);
  await setClock("'2026-03-07 23:59:59Z'");
  await cleanUp();
  t.equal(await countKept(), 0);
});
