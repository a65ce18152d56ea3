import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge } from 'prom-client';
import { type Database, endIfReadOnly } from '../database/client.ts';
import { pendingMigrations } from '../database/migrations.ts';
import { onceASecond } from '../database/once-a-second.ts';
import { sql } from '../database/sql.ts';
import type { Metrics } from './metrics.ts';

/** Milliseconds for which a scrape waits for the database. */
const timeout = 2_000;

/** Jobs of the queue that are counted. More would take longer than they are worth. */
const maxCounted = 100_000;

/** Rows of the outbox count as jobs of this task. */
const outboxTask = 'outbox';

/** SQL, because the queue belongs to graphile-worker. The kinds come from the code, so they are few. */
const selectJobs = sql`
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

type Reading = Awaited<ReturnType<typeof readDatabase>>;

/**
 * What the database knows: the queue, failed emails, pending migrations. A scrape waits for it for two seconds: a database that
 * does not respond, or takes no writes, is `database_up 0`, and the other metrics are left out.
 *
 * @param tasks of which the age of the oldest job is shown also while there is none
 */
export function addDatabaseMetrics(
  { registry, addGauge }: Metrics,
  database: Database,
  tasks: string[],
): void {
  const readOnce = onceASecond(() => readDatabase(database).catch(() => undefined));
  const read = () => Promise.race([readOnce(), sleep(timeout, undefined, { ref: false })]);

  /** Adds a gauge; `set` gets it empty, and what was read, at each scrape at which the database responds. */
  function add<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    set: (gauge: Gauge<Label>, reading: Reading) => void,
  ): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const reading = await read();
        gauge.reset();
        if (reading) set(gauge, reading);
        // Without labels, a gauge that was reset shows 0.
        else if (labelNames.length === 0) gauge.remove();
      },
    });
  }

  addGauge(
    'database_up',
    'Whether the database responds within 2 seconds and takes writes: 1 or 0',
    async () => ((await read()) ? 1 : 0),
  );
  add(
    'queue_jobs',
    `Jobs in the queue, waiting or running, and rows of the outbox; at most ${maxCounted} are counted`,
    ['task', 'kind'],
    (gauge, { jobs }) => {
      for (const { task, kind, count } of jobs) gauge.set({ task, kind }, count);
    },
  );
  add(
    'queue_oldest_due_job_age_seconds',
    'How long the oldest job that could run has been waiting',
    ['task'],
    (gauge, { jobs }) => {
      for (const task of new Set([...tasks, outboxTask, ...jobs.map((row) => row.task)])) {
        gauge.set({ task }, Math.max(0, ...jobs.filter((row) => row.task === task).map(({ age }) => age)));
      }
    },
  );
  add('failed_mails', 'Emails that failed permanently and are kept', [], (gauge, { failedMails }) =>
    gauge.set(failedMails),
  );
  add('migrations_pending', 'Migrations of this build that the database lacks', [], (gauge, { pending }) =>
    gauge.set(pending),
  );
}

async function readDatabase(database: Database) {
  const [jobs, failedMails, pending] = await Promise.all([
    database.query<JobsRow>(selectJobs),
    database.prisma.failedMail.count(),
    pendingMigrations(database.pool),
    database.pool.query(endIfReadOnly),
  ]);
  return { jobs, failedMails, pending: pending.length };
}
