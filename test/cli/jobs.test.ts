import t from 'tap';
import { createTestApp, relayed, signUpUser, testEnvironment } from '../support/app.ts';
import { inParallel } from '../support/concurrency.ts';
import { commandsOn, dureText, failed } from './command.ts';

// Without a worker, which would take the jobs.
const app = await createTestApp({ WORKER_ENABLED: 'false' });
const { pool } = app;
const dure = commandsOn(app);
const user = await signUpUser(app);
await relayed(app);

/** Adds a job that a worker has taken. @returns its id */
async function lockedJob(worker: string, { task = 'send_mail', age = '1 second' } = {}): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id::text FROM graphile_worker.add_job($1, json_build_object('kind', 'reset_link', 'user_id', 7))`,
    [task],
  );
  const id = rows[0]?.id ?? '';
  const lock = 'locked_by = $2, locked_at = now() - $3::interval, attempts = 1';
  await pool.query(`UPDATE graphile_worker._private_jobs SET ${lock} WHERE id = $1`, [id, worker, age]);
  return id;
}

const idsOf = ({ document }: { document: { items: { id: string }[] } }) => document.items.map(({ id }) => id);

t.test('list shows what waits, without payloads', async (t) => {
  const { document, stdout } = await dure('jobs', 'list');
  const job = { attempts: 0, max_attempts: 25, locked_by: null, last_error: null };
  t.match(document, { total: 1, items: [{ task: 'send_mail', kind: 'verification_code', ...job }] });
  t.notMatch(stdout, user.email);
  t.strictSame((await dure('jobs', 'list', '--failed')).document, { items: [], total: 0 });
  await pool.query(`UPDATE graphile_worker._private_jobs SET attempts = 2, last_error = 'no response'`);
  const failedJobs = (await dure('jobs', 'list', '--failed')).document;
  t.match(failedJobs, { total: 1, items: [{ attempts: 2, last_error: 'no response' }] });
  t.match((await dure('jobs', 'list', '--locked')).document, { total: 0 });
});

t.test('list has what is due first, by its priority, and then what waits for a time', async (t) => {
  const add = (name: string, options: string) =>
    pool.query(`SELECT graphile_worker.add_job('send_mail', '{"kind":"${name}"}', ${options})`);
  await add('later', `run_at => now() + interval '1 hour', priority => -9`);
  await add('usual', `run_at => now() - interval '2 hours', priority => 9`);
  await add('urgent', `run_at => now() - interval '1 hour', priority => 1`);
  const { items } = (await dure('jobs', 'list')).document;
  const kinds = items.map(({ kind }: { kind: string }) => kind);
  const added = kinds.filter((kind: string) => kind !== 'verification_code');
  t.strictSame(added, ['urgent', 'usual', 'later']);
  await pool.query("DELETE FROM graphile_worker._private_jobs WHERE payload->>'kind' <> 'verification_code'");
});

t.test('unlock releases the jobs of workers that are certain to be dead', async (t) => {
  failed(t, await dure('jobs', 'unlock'), 4, 'nothing_to_unlock');
  const dead = await lockedJob('worker-dead', { age: '46 seconds' });
  const alive = await lockedJob('worker-alive');
  const cleanUp = await lockedJob('worker-cleaning', { task: 'clean_up', age: '1 hour' });
  const runs = await inParallel(4, () => dure('jobs', 'unlock'));
  t.same(runs.map(({ code }) => code).sort(), [0, 4, 4, 4], 'reported once');
  t.match(runs.find(({ code }) => code === 0)?.document.items, [
    { id: dead, kind: 'reset_link', user_id: 7, locked_by: 'worker-dead' },
  ]);
  t.same(idsOf(await dure('jobs', 'list', '--locked')).sort(), [alive, cleanUp].sort());

  t.same(idsOf(await dure('jobs', 'unlock', '--worker', 'worker-cleaning')), [cleanUp]);
  t.match(await dure('jobs', 'unlock', '--worker', 'worker-cleaning'), { code: 4 });
  failed(t, await dure('jobs', 'unlock', '--worker', 'x', '--all'), 2, 'usage');
  t.same(idsOf(await dure('jobs', 'unlock', '--all')), [alive]);
  const { rows } = await pool.query(
    "SELECT array_agg(reason ORDER BY id) AS reasons FROM audit_entries WHERE action = 'jobs_unlocked'",
  );
  t.same(rows, [{ reasons: ['stale', 'worker-cleaning', 'all'] }], 'a rejection has no entry');
});

t.test('stats counts', async (t) => {
  await pool.query('UPDATE users SET is_verified = true, suspended_at = now() WHERE id = $1', [user.id]);
  const { document } = await dure('stats');
  t.match(document, {
    users: { total: 1, verified: 1, suspended: 1, admins: 0, new_24h: 1 },
    sessions: { live: 0, users: 0 },
    stores: { open: 0, new_24h: 0 },
    partner_requests: { requested: 0, accepted: 0 },
    emails: { queued: 3, retried: 1, failed: 0, failed_24h: 0 },
    reports: { open: 0 },
  });
  t.ok(document.database.bytes > 1_000_000);
  const text = await dureText({ ...testEnvironment, DATABASE_URL: app.url }, 'stats');
  t.match(text.stdout, /\nsessions +live 0, users 0\n/);
});

t.test('a database without the schema of this release is rejected', async (t) => {
  const last = 'SELECT max(migration_name) FROM _prisma_migrations';
  await pool.query(`DELETE FROM _prisma_migrations WHERE migration_name = (${last})`);
  failed(t, await dure('stats'), 4, 'migrations_pending', /dure migrate up/);
  const status = await dure('migrate', 'status', '--pending');
  t.equal(status.code, 4);
  const pending = { state: 'pending', applied_at: null };
  t.match(JSON.parse(status.stdout), { is_up_to_date: false, items: [pending] });
});
