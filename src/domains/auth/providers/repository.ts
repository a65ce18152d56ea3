import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { Identity as IdentityRow } from '../../../infrastructure/database/generated/client.ts';
import { olderThan, type PageRequest } from '../../../infrastructure/database/keyset.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { type Sealer, sealAgain } from '../secrets.ts';

/** graphile-worker's task that takes back the consent to a provider. */
export const revokeIdentityTask = 'revoke_identity';
/** Over about an hour. */
const maxRevocations = 8;

export type { IdentityRow };

/** What a provider said about a user, of whom the issuer and the subject are the only key. `token` is sealed. */
export interface ProviderIdentity
  extends Pick<IdentityRow, 'provider' | 'issuer' | 'subject' | 'email' | 'token'> {
  name: string | null;
  isEmailProved: boolean;
}

/** What the refresh token of a provider is sealed for. */
export const tokenContext = (provider: string) => `refresh token of ${provider}`;

/** Identities: accounts at providers, each of one account here. */
export function createIdentityRepository(database: Database, sealer: Sealer) {
  return {
    /** @returns undefined when an account has it, also the same one; of concurrent calls one succeeds */
    async add(tx: Tx, userId: number, identity: ProviderIdentity): Promise<IdentityRow | undefined> {
      const { provider, issuer, subject, email, token } = identity;
      // A rejected row would use up an id.
      if ((await tx.prisma.identity.count({ where: { issuer, subject } })) > 0) return undefined;
      const data = { userId, provider, issuer, subject, email, token };
      return (await tx.prisma.identity.createManyAndReturn({ data: [data], skipDuplicates: true }))[0];
    },

    /** Saves that the user logged in with an identity. A provider may send its refresh token only once. */
    async use({ issuer, subject, email, token }: ProviderIdentity): Promise<void> {
      const data = { email, lastUsedAt: new Date(), ...(token !== null && { token }) };
      await database.prisma.identity.updateMany({ where: { issuer, subject }, data });
    },

    list(userId: number, { after, limit }: PageRequest): Promise<IdentityRow[]> {
      return database.prisma.identity.findMany({
        where: { userId, ...olderThan(after) },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: limit,
      });
    },

    find: (tx: Tx, userId: number, id: number) => tx.prisma.identity.findFirst({ where: { id, userId } }),

    remove: (tx: Tx, id: number) => tx.prisma.identity.delete({ where: { id } }),

    sealAgain: () =>
      sealAgain(database, sealer, {
        table: 'identities',
        find: (pages, prefix) =>
          database.query<{ id: number; provider: string; sealed: string }>(sql`/* auth.findTokensToSeal */
            SELECT id, provider, token AS sealed FROM identities
            WHERE ${pages} AND NOT starts_with(token, ${prefix})`),
        contextOf: ({ provider }) => tokenContext(provider),
        save: ({ id, sealed: token }, next) =>
          database.prisma.identity.updateMany({ where: { id, token }, data: { token: next } }),
      }),

    /** Has the providers take back what the user consented to, after the commit: of one identity, or of all since a time. */
    async queueRevocations(tx: Tx, userId: number, which: { id: number } | { since: Date }): Promise<void> {
      const isMeant = 'id' in which ? sql`id = ${which.id}` : sql`created_at >= ${which.since}`;
      await tx.execute(sql`/* auth.queueRevocations */
        INSERT INTO outbox (job)
        SELECT jsonb_build_object('identifier', ${revokeIdentityTask}::text, 'max_attempts', ${maxRevocations}::int,
          'payload', jsonb_build_object('provider', provider, 'token', token))
        FROM identities WHERE user_id = ${userId} AND token IS NOT NULL AND ${isMeant}`);
    },
  };
}
