import type { ExpiredRows } from '../../infrastructure/database/clean-up.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import { countOfUser } from '../../infrastructure/database/daily-quota.ts';
import type { Prisma } from '../../infrastructure/database/generated/client.ts';
import { olderThan, type PageRequest } from '../../infrastructure/database/keyset.ts';
import { lockRow } from '../../infrastructure/database/locks.ts';
import { sql } from '../../infrastructure/database/sql.ts';
import { openStore, storeSummarySelect } from '../stores/index.ts';
import type { NewReport, Report, ReportDecision } from './schemas.ts';

type Decision = ReportDecision & { closedBy: string };
export type Target = { kind: 'post' | 'store'; id: number };

/** Closed reports are kept for a year, and for as long as they hide something. */
export const expiredReports: ExpiredRows = {
  table: 'reports',
  condition: sql`
    closed_at < now() - interval '1 year' AND (action = 'none' OR NOT EXISTS (
      SELECT FROM posts p WHERE p.id = reports.post_id AND p.hidden_at IS NOT NULL AND p.deleted_at IS NULL
      UNION ALL
      SELECT FROM stores s WHERE s.id = reports.store_id AND s.hidden_at IS NOT NULL))`,
};

/** Reports of one user in 24 hours, closed ones included. */
const reportsPerDay = 20;

const related = {
  post: { select: { id: true, title: true, store: { select: storeSummarySelect } } },
  store: { select: storeSummarySelect },
  reporter: { select: { id: true, username: true } },
} as const satisfies Prisma.ReportInclude;

export type ReportRow = Prisma.Result<
  Database['prisma']['report'],
  { include: typeof related },
  'findFirstOrThrow'
>;

const isAbout = ({ kind, id }: Target) => (kind === 'post' ? { postId: id } : { storeId: id });

type Created =
  | { id: number }
  | { refusal: 'not_found' | 'already_reported' | 'account_deleted' }
  | { seconds: number };

/** Saves a report about what its reporter can see; of concurrent calls for one target, one. Waits for a deletion of the account. */
export function create(
  database: Database,
  { userId, target, reason, text = '' }: NewReport & { userId: number; target: Target },
) {
  return database.transaction<Created>(async (tx) => {
    // Concurrent calls of a user are looked at one after the other.
    if (!(await lockRow(tx, 'users', userId, 'NO KEY UPDATE'))) return { refusal: 'account_deleted' };
    // Before the insert, which would take an id from the sequence for a report that is rejected.
    if (!(await isVisible(tx, target))) return { refusal: 'not_found' };
    const report = { reporterId: userId, ...isAbout(target) };
    if ((await tx.prisma.report.count({ where: { ...report, closedAt: null } })) > 0)
      return { refusal: 'already_reported' };
    const seconds = await countOfUser(tx, 'report', { userId, quota: reportsPerDay });
    if (seconds !== undefined) return { seconds };
    return tx.prisma.report.create({ data: { ...report, reason, text }, select: { id: true } });
  });
}

export function list(
  tx: Tx,
  { status, after, limit }: PageRequest & { status: Report['status'] | undefined },
) {
  const closedAt = status === 'open' ? null : { not: null };
  return tx.prisma.report.findMany({
    where: { ...(status && { closedAt }), ...olderThan(after) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit,
    include: related,
  });
}

/** Finds the target of a report and locks its store, for which other decisions wait, and a deletion of its account. */
async function lockTarget(tx: Tx, id: number): Promise<Target | undefined> {
  const report = await tx.prisma.report.findFirst({
    where: { id },
    select: { storeId: true, post: { select: { id: true, storeId: true } } },
  });
  const storeId = report?.storeId ?? report?.post?.storeId;
  if (!report || storeId === undefined) return undefined;
  await lockRow(tx, 'stores', storeId, 'NO KEY UPDATE');
  return report.post ? { kind: 'post', id: report.post.id } : { kind: 'store', id: storeId };
}

/** Closes a report, or decides again, keeping the first time. Its target is hidden while a closed report hides it. */
export async function close(tx: Tx, id: number, { action, note = '', closedBy }: Decision) {
  const { post, report, store } = tx.prisma;
  const target = await lockTarget(tx, id);
  if (target === undefined) return null;
  const [data, closedAt] = [{ action, note, closedBy }, new Date()];
  const first = await report.updateMany({ where: { id, closedAt: null }, data: { ...data, closedAt } });
  if (first.count === 0) await report.updateMany({ where: { id }, data });
  const isHidden = (await report.count({ where: { ...isAbout(target), action: 'hide' } })) > 0;
  const isOtherwise = { id: target.id, hiddenAt: isHidden ? null : { not: null } };
  const hiding = { hiddenAt: isHidden ? new Date() : null };
  if (target.kind === 'post') await post.updateMany({ where: isOtherwise, data: hiding });
  // A trigger keeps `suspended_at`, which readers look at.
  else await store.updateMany({ where: { ...isOtherwise, closedAt: null }, data: hiding });
  return report.findFirst({ where: { id }, include: related });
}

async function isVisible({ prisma }: Tx, { kind, id }: Target): Promise<boolean> {
  const found =
    kind === 'post'
      ? prisma.post.count({ where: { id, isVisible: true, store: openStore } })
      : prisma.store.count({ where: { id, ...openStore } });
  return (await found) > 0;
}
