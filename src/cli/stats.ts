import type { Command } from 'commander';
import type { Tx } from '../infrastructure/database/client.ts';
import { addCommand, type Invocation } from './command.ts';
import { pairs } from './output.ts';

/** `dure stats`. */
export function addStatsCommand(program: Command, invocation: Invocation): void {
  addCommand(program, 'stats', {
    summary: 'count users, stores, requests and emails; size of the database',
    description:
      'Counts users, sessions, stores, posts, partner requests, images, emails and open reports, and measures the database. It reads whole tables, which takes seconds where they have millions of rows: do not poll it, `/metrics` is for that.',
    examples: ['dure stats', "dure stats --json | jq '.emails.failed'"],
  }).action(() => showStats(invocation));
}

async function showStats({ environment, output }: Invocation): Promise<void> {
  const { withSlowStatements } = await import('./connection.ts');
  const stats = await withSlowStatements(environment, readStats);
  output.result(stats, () => pairs(linesOf(stats)));
}

type Stats = Awaited<ReturnType<typeof readStats>>;

/** Counts what an operator looks at in the morning. SQL, because each table is read once for all of its counts. */
async function readStats(database: Tx) {
  const { raw, sql } = await import('../infrastructure/database/sql.ts');
  const { sendMailTask } = await import('../infrastructure/mail/queue.ts');

  async function select<Name extends string>(columns: Record<Name, string>, from: string) {
    const list = Object.entries<string>(columns)
      .map(([name, expression]) => `${expression}::float8 AS ${name}`)
      .join(', ');
    const [row] = await database.query<Record<Name, number>>(sql`SELECT ${raw(list)} FROM ${raw(from)}`);
    if (row === undefined) throw new Error('an aggregate returned no row');
    return row;
  }
  const count = (condition: string) => `count(*) FILTER (WHERE ${condition})`;
  const total = 'count(*)';
  const ofLastDay = count("created_at > now() - interval '24 hours'");
  const [version] = await database.query<{ text: string }>(
    sql`SELECT split_part(current_setting('server_version'), ' ', 1) AS text`,
  );

  return {
    users: await select(
      {
        total,
        verified: count('is_verified'),
        suspended: count('suspended_at IS NOT NULL'),
        admins: count("role = 'admin'"),
        new_24h: ofLastDay,
      },
      'users',
    ),
    sessions: await select(
      { live: total, users: 'count(DISTINCT user_id)' },
      'sessions s JOIN users u ON u.id = s.user_id WHERE s.expires_at > now() AND u.suspended_at IS NULL',
    ),
    stores: await select(
      { open: count('closed_at IS NULL AND suspended_at IS NULL'), new_24h: ofLastDay },
      'stores',
    ),
    posts: await select({ total, new_24h: ofLastDay }, 'posts WHERE deleted_at IS NULL'),
    partner_requests: await select(
      {
        requested: count("status = 'requested'"),
        accepted: count("status = 'accepted'"),
        declined: count("status = 'declined'"),
        withdrawn: count("status = 'withdrawn'"),
        ended: count("status = 'ended'"),
        new_24h: ofLastDay,
      },
      'partner_requests',
    ),
    images: await select({ total, new_24h: ofLastDay }, "images WHERE state = 'ready'"),
    emails: {
      ...(await select(
        {
          queued: total,
          retried: count('last_error IS NOT NULL'),
          oldest_seconds: 'coalesce(round(extract(epoch FROM now() - min(created_at))), 0)',
        },
        `graphile_worker.jobs WHERE task_identifier = '${sendMailTask}'`,
      )),
      ...(await select({ failed: total, failed_24h: ofLastDay }, 'failed_mails')),
    },
    reports: await select({ open: count('closed_at IS NULL') }, 'reports'),
    database: {
      ...(await select(
        { bytes: 'pg_database_size(current_database())', connections: total },
        'pg_stat_activity WHERE datname = current_database()',
      )),
      version: version?.text ?? '',
    },
  };
}

function linesOf({
  users,
  sessions,
  stores,
  posts,
  partner_requests: requests,
  ...rest
}: Stats): [string, string][] {
  const { emails, images, reports, database } = rest;
  const inOneDay = (count: number) => `${count} in 24 hours`;
  return [
    [
      'users',
      `${users.total}, ${users.verified} verified, ${users.suspended} suspended, ${users.admins} admins, ${inOneDay(users.new_24h)}`,
    ],
    ['sessions', `${sessions.live} live, of ${sessions.users} users`],
    ['stores', `${stores.open} open, ${inOneDay(stores.new_24h)}`],
    ['posts', `${posts.total}, ${inOneDay(posts.new_24h)}`],
    [
      'requests',
      `${requests.requested} requested, ${requests.accepted} accepted, ${requests.declined} declined, ${requests.withdrawn} withdrawn, ${requests.ended} ended, ${inOneDay(requests.new_24h)}`,
    ],
    ['images', `${images.total}, ${inOneDay(images.new_24h)}`],
    [
      'emails',
      `${emails.queued} queued (${emails.retried} after a failed attempt, the oldest for ${emails.oldest_seconds} s), ${emails.failed} failed permanently, ${inOneDay(emails.failed_24h)}`,
    ],
    ['reports', `${reports.open} open`],
    [
      'database',
      `${(database.bytes / 2 ** 20).toFixed(1)} MiB, ${database.connections} connections, PostgreSQL ${database.version}`,
    ],
  ];
}
