import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { Passkey, Prisma } from '../../../infrastructure/database/generated/client.ts';
import type { PageRequest } from '../../../infrastructure/database/keyset.ts';
import { advisoryLocks, lockRow } from '../../../infrastructure/database/locks.ts';
import { type Sql, sql } from '../../../infrastructure/database/sql.ts';

/** What the API shows of an account. */
export const userColumns = {
  id: true,
  username: true,
  name: true,
  email: true,
  role: true,
  isVerified: true,
} satisfies Prisma.UserSelect;

export type UserRow = Prisma.UserGetPayload<{ select: typeof userColumns }>;

export type RemovableAccount = Pick<UserRow, 'id' | 'email' | 'isVerified'>;

export function createAccountRepository({ unverifiedAccountTtl }: Config['email']) {
  const find = (tx: Tx, where: Prisma.UserWhereInput) => tx.prisma.user.findFirst({ where });

  return {
    find,

    /** Locks an account and its undo links, while rows can refer to it. @returns null when it is gone or suspended */
    async lock(tx: Tx, id: number) {
      await lockRow(tx, 'users', id, 'NO KEY UPDATE');
      return find(tx, { id, suspendedAt: null });
    },

    /** Locks email addresses and usernames until the transaction ends; see `advisoryLocks.names`. */
    async lockNames(tx: Tx, ...names: string[]): Promise<void> {
      await tx.query(sql`/* auth.lockNames */
        SELECT pg_advisory_xact_lock(${advisoryLocks.names}::int, hash)::text
        FROM (SELECT hashtext(name) AS hash FROM unnest(${names}::text[]) name ORDER BY 1) ordered`);
    },

    create: (tx: Tx, data: Prisma.UserCreateManyInput) => tx.prisma.user.create({ data }),

    /** @returns the changed account; undefined where there was no such one @throws when its address is taken */
    async change(tx: Tx, where: Prisma.UserWhereInput, data: Prisma.UserUpdateManyMutationInput) {
      return (await tx.prisma.user.updateManyAndReturn({ where, data }))[0];
    },

    /** Removes the identities, passkeys and second factor that were added since a time. @returns which kinds there were */
    async removeLoginMethods(tx: Tx, userId: number, since: Date) {
      const where = { userId, createdAt: { gte: since } };
      const removed = {
        identity: await tx.prisma.identity.deleteMany({ where }),
        passkey: await tx.prisma.passkey.deleteMany({ where }),
        second_factor: await tx.prisma.secondFactor.deleteMany({
          where: { userId, confirmedAt: { gte: since } },
        }),
      };
      // One that is not confirmed is no way to log in yet.
      await tx.prisma.secondFactor.deleteMany({ where: { userId, confirmedAt: null } });
      return (['identity', 'passkey', 'second_factor'] as const).filter((kind) => removed[kind].count > 0);
    },

    /** Whether an account has a way to log in besides one of its identities or passkeys. Lock it first, so that this stays true. */
    async hasOtherLoginMethod(tx: Tx, id: number): Promise<boolean> {
      const select = { passwordHash: true, _count: { select: { identities: true, passkeys: true } } };
      const account = await tx.prisma.user.findFirstOrThrow({ where: { id }, select });
      const { passwordHash, _count: count } = account;
      return passwordHash !== null || count.identities + count.passkeys > 1;
    },

    /** Unverified accounts without a store, a live session, and a login for long. @param condition on the user `u` */
    findAbandoned(tx: Tx, condition: Sql): Promise<RemovableAccount[]> {
      return tx.query<RemovableAccount>(sql`/* auth.findAbandoned */
        SELECT u.id, u.email, u.is_verified AS "isVerified" FROM users u
        WHERE ${condition} AND NOT u.is_verified AND u.suspended_at IS NULL
          AND coalesce(u.last_login_at, u.created_at) < now() - make_interval(secs => ${unverifiedAccountTtl})
          AND NOT EXISTS (SELECT FROM sessions s WHERE s.user_id = u.id AND s.expires_at > now())
          AND NOT EXISTS (SELECT FROM stores s WHERE s.owner_id = u.id)`);
    },

    remove: async (tx: Tx, userId: number) =>
      (await tx.prisma.user.deleteMany({ where: { id: userId } })).count > 0,
  };
}

/** Passkeys. Those of an account are added and removed while it is locked. */
export function createPasskeyRepository({ prisma }: Database) {
  return {
    list(userId: number, { after, limit }: PageRequest): Promise<Passkey[]> {
      const where = { userId, ...(after && { id: { lt: Number(after.id) } }) };
      return prisma.passkey.findMany({ where, orderBy: { id: 'desc' }, take: limit });
    },

    find: (credentialId: string) => prisma.passkey.findFirst({ where: { credentialId } }),
    count: (tx: Tx, userId: number) => tx.prisma.passkey.count({ where: { userId } }),

    /** @returns undefined when an account has a passkey with the credential's id */
    async add(tx: Tx, data: Prisma.PasskeyCreateManyInput): Promise<Passkey | undefined> {
      // A rejected row would use up an id.
      const { credentialId } = data;
      if ((await tx.prisma.passkey.count({ where: { credentialId } })) > 0) return undefined;
      return (await tx.prisma.passkey.createManyAndReturn({ data: [data], skipDuplicates: true }))[0];
    },

    rename: async (userId: number, id: number, data: { name: string }) =>
      (await prisma.passkey.updateManyAndReturn({ where: { id, userId }, data }))[0],

    /** @returns its name; undefined when the user has no such passkey */
    async remove(tx: Tx, userId: number, id: number): Promise<string | undefined> {
      const passkey = await tx.prisma.passkey.findFirst({ where: { id, userId } });
      const { count } = await tx.prisma.passkey.deleteMany({ where: { id, userId } });
      return count > 0 ? passkey?.name : undefined;
    },

    /** Saves a login. @returns false when the counter, if there is one, did not grow: the passkey was copied, or its signature seen */
    async use(id: number, { counter, isSynced }: { counter: number; isSynced: boolean }): Promise<boolean> {
      const where = { id, counter: counter === 0 ? 0 : { lt: counter } };
      const data = { counter, isSynced, lastUsedAt: new Date() };
      return (await prisma.passkey.updateMany({ where, data })).count > 0;
    },
  };
}
