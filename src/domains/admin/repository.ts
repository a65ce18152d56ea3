import type { Database } from '../../infrastructure/database/client.ts';
import type { Prisma } from '../../infrastructure/database/generated/client.ts';
import type { Role } from '../../infrastructure/database/generated/enums.ts';
import type { BoundedPage, PageRequest } from '../../infrastructure/database/keyset.ts';
import { empty, sql } from '../../infrastructure/database/sql.ts';
import type { MailPayload } from '../../infrastructure/mail/queue.ts';
import { storeSummarySelect } from '../stores/index.ts';

/** Accounts that one request examines. */
const maxExamined = 5_000;

const userColumns = {
  id: true,
  username: true,
  name: true,
  email: true,
  role: true,
  isVerified: true,
  suspendedAt: true,
  suspendedReason: true,
  createdAt: true,
  lastLoginAt: true,
  store: { select: storeSummarySelect },
} as const satisfies Prisma.UserSelect;

/** An account as operators see it. */
export type AdminUserRow = Prisma.UserGetPayload<{ select: typeof userColumns }>;

/** What a mail is made from is not read: operators need its kind and its reason. */
const failedMailColumns = {
  id: true,
  userId: true,
  kind: true,
  reason: true,
  attempts: true,
  createdAt: true,
} as const satisfies Prisma.FailedMailSelect;

export type FailedMailRow = Prisma.Result<
  Database['prisma']['failedMail'],
  { select: typeof failedMailColumns },
  'findFirstOrThrow'
>;

export type AdminRepository = ReturnType<typeof createAdminRepository>;

/** Accounts and failed emails, as operators see and change them. */
export function createAdminRepository(database: Database) {
  /** The id of the account with an id, or with a name: the username or the e-mail address. */
  async function findUserId(
    { id, name }: { id: number | undefined; name: string },
    connection = database,
  ): Promise<number | undefined> {
    const login = name.toLowerCase();
    const byId = id === undefined ? [] : [{ id }];
    const where = { OR: [...byId, { email: login }, { username: login }] };
    return (await connection.prisma.user.findFirst({ where, select: { id: true } }))?.id;
  }

  /**
   * Accounts, newest first, among a bounded number of them. Their ids grow in the order of their creation.
   *
   * @param page.q a part of the username, the e-mail address or the name; empty for all accounts
   */
  async function listUsers(
    tx: Database,
    { q, after, limit }: PageRequest & { q: string },
  ): Promise<BoundedPage<AdminUserRow>> {
    const before = after && Number(after.id);
    const stop = await tx.prisma.user.findFirst({
      where: before === undefined ? {} : { id: { lt: before } },
      orderBy: { id: 'desc' },
      skip: maxExamined - 1,
      select: { id: true, createdAt: true },
    });
    const part = q.toLowerCase();
    // Prisma's `contains` reads `%` and `_` as wildcards.
    const found = await tx.query<{ id: number }>(sql`
      SELECT id FROM users
      WHERE id >= ${stop?.id ?? 0}::int ${before === undefined ? empty : sql`AND id < ${before}::int`}
        AND (strpos(username, ${part}) > 0 OR strpos(email, ${part}) > 0 OR strpos(lower(name), ${part}) > 0)
      ORDER BY id DESC LIMIT ${limit}`);
    const rows = await tx.prisma.user.findMany({
      where: { id: { in: found.map(({ id }) => id) } },
      orderBy: { id: 'desc' },
      select: userColumns,
    });
    const isCut = stop !== null && rows.length < limit;
    return { rows, stoppedAt: isCut ? { time: stop.createdAt.getTime(), id: String(stop.id) } : undefined };
  }

  function findUser(tx: Database, id: number): Promise<AdminUserRow | null> {
    return tx.prisma.user.findUnique({ where: { id }, select: userColumns });
  }

  /** Locks an account until the transaction ends. @returns undefined when it does not exist */
  async function lockUser(tx: Database, id: number) {
    const [user] = await tx.query<{ role: Role; suspendedAt: Date | null }>(sql`
      SELECT role, suspended_at AS "suspendedAt" FROM users WHERE id = ${id} FOR NO KEY UPDATE`);
    return user;
  }

  /** Suspends an account or lifts the suspension. Triggers end the sessions, and hide or show the store. */
  function setSuspension(
    tx: Database,
    id: number,
    suspension: { suspendedAt: Date | null; suspendedReason: string | null },
  ): Promise<AdminUserRow> {
    return tx.prisma.user.update({ where: { id }, data: suspension, select: userColumns });
  }

  async function setRole(tx: Database, id: number, role: Role): Promise<void> {
    await tx.prisma.user.updateMany({ where: { id }, data: { role } });
  }

  /** Newest first. */
  function listFailedMails(tx: Database, { after, limit }: PageRequest): Promise<FailedMailRow[]> {
    return tx.prisma.failedMail.findMany({
      where: after === undefined ? {} : { id: { lt: Number(after.id) } },
      orderBy: { id: 'desc' },
      take: limit,
      select: failedMailColumns,
    });
  }

  /** Deletes a failed email. Of concurrent calls one gets it. @returns what the email is made from */
  async function takeFailedMail(tx: Database, id: number) {
    const [mail] = await tx.query<{ kind: string; payload: MailPayload }>(sql`
      DELETE FROM failed_mails WHERE id = ${id}::bigint RETURNING kind, payload`);
    return mail;
  }

  return {
    findUserId,
    listUsers,
    findUser,
    lockUser,
    setSuspension,
    setRole,
    listFailedMails,
    takeFailedMail,
  };
}
