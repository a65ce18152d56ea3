import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { Passkey as PasskeyRow, Prisma } from '../../../infrastructure/database/generated/client.ts';
import type { PageRequest } from '../../../infrastructure/database/keyset.ts';

export type { PasskeyRow };

/** Passkeys. Those of an account are added and removed while it is locked. */
export function createPasskeyRepository({ prisma }: Database) {
  return {
    list(userId: number, { after, limit }: PageRequest): Promise<PasskeyRow[]> {
      const where = { userId, ...(after && { id: { lt: Number(after.id) } }) };
      return prisma.passkey.findMany({ where, orderBy: { id: 'desc' }, take: limit });
    },

    find: (credentialId: string) => prisma.passkey.findFirst({ where: { credentialId } }),
    count: (tx: Tx, userId: number) => tx.prisma.passkey.count({ where: { userId } }),

    /** @returns undefined when an account has a passkey with the credential's id */
    async add(tx: Tx, data: Prisma.PasskeyCreateManyInput): Promise<PasskeyRow | undefined> {
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
