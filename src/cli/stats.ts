import type { Command } from 'commander';
import { addCommand, type Invocation, table } from './command.ts';

/** `dure stats`. */
export function addStatsCommand(program: Command, invocation: Invocation): void {
  addCommand(program, 'stats', {
    summary:
      'count users, sessions, stores, posts, requests, images, emails and reports; size of the database',
    details:
      'It reads whole tables, which takes seconds where they have millions of rows: do not poll it, `/metrics` is for that.',
    examples: ['dure stats', "dure stats --json | jq '.emails.failed'"],
  }).action(() => showStats(invocation));
}

const ofLastDay = "count(*) FILTER (WHERE created_at > now() - interval '24 hours')";

/** What an operator looks at in the morning. Each table is read once for all of its counts. `$1` is the task that sends emails. */
const sections = {
  users: `count(*) AS total, count(*) FILTER (WHERE is_verified) AS verified,
    count(*) FILTER (WHERE suspended_at IS NOT NULL) AS suspended,
    count(*) FILTER (WHERE role = 'admin') AS admins, ${ofLastDay} AS new_24h FROM users`,
  sessions: `count(*) AS live, count(DISTINCT user_id) AS users
    FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.expires_at > now() AND u.suspended_at IS NULL`,
  stores: `count(*) FILTER (WHERE closed_at IS NULL AND suspended_at IS NULL) AS open, ${ofLastDay} AS new_24h FROM stores`,
  posts: `count(*) AS total, ${ofLastDay} AS new_24h FROM posts WHERE is_visible`,
  partner_requests: `count(*) FILTER (WHERE status = 'requested') AS requested,
    count(*) FILTER (WHERE status = 'accepted') AS accepted, count(*) FILTER (WHERE status = 'declined') AS declined,
    count(*) FILTER (WHERE status = 'withdrawn') AS withdrawn, count(*) FILTER (WHERE status = 'ended') AS ended,
    ${ofLastDay} AS new_24h FROM partner_requests`,
  images: `count(*) AS total, ${ofLastDay} AS new_24h FROM images WHERE state = 'ready'`,
  emails: `count(*) AS queued, count(*) FILTER (WHERE last_error IS NOT NULL) AS retried,
    coalesce(round(extract(epoch FROM now() - min(created_at))), 0) AS oldest_seconds,
    (SELECT count(*) FROM failed_mails) AS failed, (SELECT ${ofLastDay} FROM failed_mails) AS failed_24h
    FROM graphile_worker.jobs WHERE task_identifier = $1`,
  reports: 'count(*) FILTER (WHERE closed_at IS NULL) AS open FROM reports',
  database: `pg_database_size(current_database()) AS bytes, count(*) AS connections,
    split_part(current_setting('server_version'), ' ', 1) AS version
    FROM pg_stat_activity WHERE datname = current_database()`,
};

async function showStats({ environment, output }: Invocation): Promise<void> {
  const { rejectPending, withSession, withLocation } = await import('./connection.ts');
  const { sendMailTask } = await import('../infrastructure/mail/queue.ts');
  const list = Object.entries(sections).map(
    ([name, select]) => `(SELECT to_json(counts) FROM (SELECT ${select}) counts) AS ${name}`,
  );
  const [stats] = await withLocation(environment, (location) =>
    withSession(location, async (client) => {
      await rejectPending(client);
      // Longer than a request may take.
      await client.query("SET statement_timeout = '60 s'");
      return (await client.query(`SELECT ${list}`, [sendMailTask])).rows;
    }),
  );
  const lines = Object.entries<Record<string, unknown>>(stats).map(([what, counts]) => {
    const all = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
    return { what, counts: all.join(', ') };
  });
  output.result(stats, () => table(lines, ['what', 'counts'], ''));
}
