import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, DatabaseOptions } from '../database/client.ts';
import { endIfReadOnly } from '../database/connection.ts';
import { pendingMigrations } from '../database/migrations.ts';
import { onceASecond } from '../database/shared-reads.ts';
import { sql } from '../database/sql.ts';
import { mailPauseTask } from '../mail/queue.ts';
import type { Metrics, Reading } from './metrics.ts';

/** Milliseconds for which a scrape waits for the database. */
const timeout = 2_000;

/** Jobs of the queue that are counted. More would take longer than they are worth. */
const maxCounted = 100_000;

/** Rows of the outbox count as jobs of this task. */
const outboxTask = 'outbox';

/** SQL, because the queue belongs to graphile-worker. The kinds come from the code, so they are few. */
const selectJobs = sql`/* metrics.jobs */
  SELECT task, kind, count(*)::int AS count, coalesce(max(age), 0)::float8 AS age
  FROM (
    SELECT
      tasks.identifier AS task,
      coalesce(jobs.payload->>'kind', '') AS kind,
      CASE WHEN jobs.is_available AND jobs.run_at <= now() THEN extract(epoch FROM now() - jobs.run_at) END AS age
    FROM graphile_worker._private_jobs jobs JOIN graphile_worker._private_tasks tasks ON tasks.id = jobs.task_id
    UNION ALL
    SELECT ${outboxTask}, coalesce(mail->>'kind', ''), extract(epoch FROM now() - created_at) FROM outbox
    LIMIT ${maxCounted}
  ) job
  GROUP BY task, kind`;

interface JobsRow {
  task: string;
  kind: string;
  count: number;
  /** Seconds that the oldest one that could run has been waiting. */
  age: number;
}

/**
 * What the database knows: the queue, failed emails, pending migrations. Without a response within two seconds, and without writes,
 * there is `database_up 0` alone.
 *
 * @param tasks whose oldest age is shown also while there is none
 */
export function addDatabaseMetrics(
  { addGauge }: Metrics,
  database: Database,
  { tasks, limitFactor = 1 }: Pick<DatabaseOptions, 'limitFactor'> & { tasks: string[] },
): void {
  const readOnce = onceASecond(() => readDatabase(database).catch(() => undefined));
  const read = () => Promise.race([readOnce(), sleep(timeout * limitFactor, undefined, { ref: false })]);

  addGauge(
    'database_up',
    'Whether the database responds within 2 seconds and takes writes: 1 or 0',
    async () => ((await read()) ? 1 : 0),
  );
  /** Adds a gauge of what the database knows. */
  const add = <Label extends string>(
    name: string,
    help: string,
    select: (known: Awaited<ReturnType<typeof readDatabase>>) => Reading<Label>,
    labels?: readonly Label[],
  ) => addGauge(name, help, () => read().then<Reading<Label>>((known) => known && select(known)), labels);
  add(
    'queue_jobs',
    `Jobs in the queue, waiting or running, and rows of the outbox; at most ${maxCounted} are counted`,
    ({ jobs }) => jobs.map(({ task, kind, count }) => [{ task, kind }, count]),
    ['task', 'kind'],
  );
  add(
    'queue_oldest_due_job_age_seconds',
    'How long the oldest job that could run has been waiting',
    ({ jobs }) => {
      const all = new Set([...tasks, outboxTask, ...jobs.map(({ task }) => task)]);
      const agesOf = (task: string) => jobs.filter((row) => row.task === task).map(({ age }) => age);
      return [...all].map((task) => [{ task }, Math.max(0, ...agesOf(task))]);
    },
    ['task'],
  );
  const paused = 'Whether emails wait because the provider limits their rate or number: 1 or 0';
  add('mail_paused', paused, ({ jobs }) => Number(jobs.some(({ task }) => task === mailPauseTask)));
  add('failed_mails', 'Emails that failed permanently and are kept', ({ failedMails }) => failedMails);
  const offset = 'How far the clock of this instance is ahead of that of the database';
  add('clock_offset_seconds', offset, ({ clockOffset }) => clockOffset);
  add('migrations_pending', 'Migrations of this build that the database lacks', ({ pending }) => pending);
}

async function readDatabase(database: Database) {
  const [jobs, failedMails, pending, clockOffset] = await Promise.all([
    database.query<JobsRow>(selectJobs),
    database.prisma.failedMail.count(),
    pendingMigrations(database.pool),
    readClockOffset(database),
    database.pool.query(endIfReadOnly),
  ]);
  return { jobs, failedMails, pending: pending.length, clockOffset };
}

/** Seconds; wrong by the time that the response takes, at most. Tokens of an instance whose clock is ahead are rejected by others. */
async function readClockOffset(database: Database): Promise<number> {
  const [row] = await database.query<{ now: number }>(sql`/* metrics.clock */
    SELECT extract(epoch FROM clock_timestamp())::float8 AS now`);
  return row ? Date.now() / 1_000 - row.now : 0;
}
