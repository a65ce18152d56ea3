import { withSlowStatements } from '../connection.ts';
import type { Invocation } from '../invocation.ts';
import { pairs } from '../output.ts';
import { readStats, type Stats } from './read.ts';

/** `dure stats`. */
export async function showStats({ environment, output }: Invocation): Promise<void> {
  const stats = await withSlowStatements(environment, readStats);
  output.result(stats, () => pairs(linesOf(stats)));
}

function linesOf({
  users,
  sessions,
  stores,
  posts,
  partner_requests: requests,
  ...rest
}: Stats): [string, string][] {
  const { mails, pictures, reports, database } = rest;
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
    ['pictures', `${pictures.total}, ${inOneDay(pictures.new_24h)}`],
    [
      'mails',
      `${mails.queued} queued (${mails.retried} after a failed attempt, the oldest for ${mails.oldest_seconds} s), ${mails.failed} failed for good, ${inOneDay(mails.failed_24h)}`,
    ],
    ['reports', `${reports.open} open`],
    [
      'database',
      `${(database.bytes / 2 ** 20).toFixed(1)} MiB, ${database.connections} connections, PostgreSQL ${database.version}`,
    ],
  ];
}
