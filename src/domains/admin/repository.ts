import { expiredAfter } from '../../infrastructure/database/clean-up.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import type { Prisma } from '../../infrastructure/database/generated/client.ts';
import type { Role } from '../../infrastructure/database/generated/enums.ts';
import type { PageRequest } from '../../infrastructure/database/keyset.ts';
import type { MailPayload } from '../../infrastructure/mail/queue.ts';
import { userColumns } from '../auth/index.ts';
import { storeSummarySelect } from '../stores/index.ts';

/** Accounts that one request examines. */
const maxExamined = 5_000;

const columns = {
  ...userColumns,
  suspendedAt: true,
  suspendedReason: true,
  createdAt: true,
  lastLoginAt: true,
  store: { select: storeSummarySelect },
} as const satisfies Prisma.UserSelect;

export type AdminUserRow = Prisma.UserGetPayload<{ select: typeof columns }>;

/** What an email is made from is not read: operators need its kind and its reason. */
const withoutPayload = { omit: { payload: true } } as const;

export type FailedMailRow = Prisma.Result<
  Database['prisma']['failedMail'],
  typeof withoutPayload,
  'findFirstOrThrow'
>;

/** What an operator calls an account: perhaps its id, or its username or email address. */
type Reference = { id: number | undefined; name: string };
type AuditQuery = { limit: number; userId: number | undefined };

export async function findUserId(tx: Tx, { id, name }: Reference): Promise<number | undefined> {
  const login = name.toLowerCase();
  const byId = id === undefined ? [] : [{ id }];
  const where = { OR: [...byId, { email: login }, { username: login }] };
  return (await tx.prisma.user.findFirst({ where, select: { id: true } }))?.id;
}

/** Accounts whose username, email address or name contains `q`, newest first, as their ids are, among a bounded number of them. */
export async function listUsers(tx: Tx, { q, after, limit }: PageRequest & { q: string }) {
  const before = after && { lt: Number(after.id) };
  const stop = await tx.prisma.user.findFirst({
    where: before ? { id: before } : {},
    orderBy: { id: 'desc' },
    skip: maxExamined - 1,
    select: { id: true, createdAt: true },
  });
  // `%`, `_` and `\` would be wildcards.
  const part = { contains: q.toLowerCase().replace(/[%_\\]/g, '\\$&') };
  const rows = await tx.prisma.user.findMany({
    where: {
      id: { gte: stop?.id ?? 0, ...before },
      OR: [{ username: part }, { email: part }, { name: { ...part, mode: 'insensitive' } }],
    },
    orderBy: { id: 'desc' },
    take: limit,
    select: columns,
  });
  const isCut = stop !== null && rows.length < limit;
  return { rows, stoppedAt: isCut ? { time: stop.createdAt.getTime(), id: String(stop.id) } : undefined };
}

export const findUser = (tx: Tx, id: number) => tx.prisma.user.findFirst({ where: { id }, select: columns });

/** Suspends an account, or changes why; null lifts it. Triggers do the rest. */
export async function setSuspension(tx: Tx, id: number, reason: string | null): Promise<void> {
  const suspendedAt = reason === null ? null : new Date();
  // The time is that of the first suspension.
  const isOther = suspendedAt ? null : { not: null };
  await tx.prisma.user.updateMany({ where: { id, suspendedAt: isOther }, data: { suspendedAt } });
  await tx.prisma.user.updateMany({ where: { id }, data: { suspendedReason: reason } });
}

export async function setRole(tx: Tx, id: number, role: Role): Promise<void> {
  await tx.prisma.user.updateMany({ where: { id }, data: { role } });
}

export function listFailedMails(tx: Tx, { after, limit }: PageRequest): Promise<FailedMailRow[]> {
  return tx.prisma.failedMail.findMany({
    where: after === undefined ? {} : { id: { lt: Number(after.id) } },
    orderBy: { id: 'desc' },
    take: limit,
    ...withoutPayload,
  });
}

/** Deletes a failed email. Of concurrent calls one gets it. @returns what the email is made from */
export async function takeFailedMail(tx: Tx, id: number) {
  const select = { kind: true, payload: true } as const;
  const mail = await tx.prisma.failedMail.findFirst({ where: { id }, select });
  const { count } = await tx.prisma.failedMail.deleteMany({ where: { id } });
  return count > 0 && mail ? { ...mail, payload: mail.payload as MailPayload } : undefined;
}

/** Audit entries are kept for a year. */
export const expiredAuditEntries = expiredAfter('1 year', 'audit_entries');

export async function addAuditEntry(tx: Tx, data: Prisma.AuditEntryCreateManyInput): Promise<void> {
  await tx.prisma.auditEntry.create({ data });
}

/** The newest entries, all or those about one account. */
export async function listAuditEntries(tx: Tx, { limit, userId }: AuditQuery) {
  const entries = await tx.prisma.auditEntry.findMany({
    where: userId === undefined ? {} : { subjectKind: 'user', subjectId: userId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit,
  });
  return entries.map(({ id, createdAt, subjectKind, subjectId, requestId, ...entry }) => ({
    id,
    created_at: createdAt,
    operator: entry.operator,
    action: entry.action,
    subject_kind: subjectKind,
    subject_id: subjectId,
    reason: entry.reason,
    request_id: requestId,
    address: entry.address,
  }));
}
