import type { Database } from '../../../infrastructure/database/client.ts';
import type { PushSubscription } from '../../../infrastructure/database/generated/client.ts';
import type { PageRequest } from '../../../infrastructure/database/keyset.ts';
import { lockRow } from '../../../infrastructure/database/locks.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { maxSubscriptions } from './schemas.ts';

export type SubscriptionRow = Pick<PushSubscription, 'id' | 'userAgent' | 'createdAt'>;
type NewRow = Pick<PushSubscription, 'userId' | 'endpoint' | 'p256dh' | 'auth' | 'userAgent'> & {
  sessionId: string;
};
type Attempt = Pick<PushSubscription, 'failures' | 'retryAt'>;

export type PushSubscriptions = ReturnType<typeof createPushSubscriptions>;
/** Browsers that get push messages. */
export function createPushSubscriptions(database: Database) {
  const { prisma } = database;

  /** Adds or changes the subscription for an endpoint; another user's becomes this one's. @returns undefined when there are too many */
  function save({ userId, sessionId, endpoint, p256dh, auth, userAgent }: NewRow) {
    return database.transaction(async (tx) => {
      // So that concurrent calls of a user are counted one after the other.
      await lockRow(tx, 'users', userId, 'NO KEY UPDATE');
      // The end of the session waits, and then finds the subscription.
      if (!(await lockRow(tx, 'sessions', sessionId, 'KEY SHARE'))) return 'session ended';
      const [saved] = await tx.query<SubscriptionRow & { isNew: boolean }>(sql`
        /* notifications.savePushSubscription */ WITH own AS (
          UPDATE push_subscriptions SET session_id = ${sessionId}::uuid, p256dh = ${p256dh}, auth = ${auth},
            user_agent = ${userAgent}, failures = 0, retry_at = NULL
          WHERE user_id = ${userId} AND endpoint = ${endpoint} RETURNING *
        ), added AS (
          INSERT INTO push_subscriptions (user_id, session_id, endpoint, p256dh, auth, user_agent)
          SELECT id, ${sessionId}::uuid, ${endpoint}, ${p256dh}, ${auth}, ${userAgent} FROM users
          WHERE id = ${userId} AND NOT EXISTS (SELECT FROM own)
            AND (SELECT count(*) FROM push_subscriptions WHERE user_id = ${userId}) < ${maxSubscriptions}
          ON CONFLICT (endpoint) DO UPDATE SET id = excluded.id, user_id = excluded.user_id, session_id = excluded.session_id, p256dh = excluded.p256dh,
            auth = excluded.auth, user_agent = excluded.user_agent, failures = 0, retry_at = NULL, created_at = excluded.created_at
          RETURNING *
        )
        SELECT id, created_at AS "createdAt", user_agent AS "userAgent", EXISTS (SELECT FROM added) AS "isNew"
        FROM (SELECT * FROM own UNION ALL SELECT * FROM added) saved`);
      return saved;
    });
  }

  return {
    save,

    list(userId: number, { after, limit }: PageRequest): Promise<SubscriptionRow[]> {
      const where = { userId, ...(after && { id: { lt: Number(after.id) } }) };
      return prisma.pushSubscription.findMany({ where, orderBy: { id: 'desc' }, take: limit });
    },

    remove: async (userId: number, id: number) =>
      (await prisma.pushSubscription.deleteMany({ where: { id, userId } })).count > 0,

    find: (userId: number, id: number | undefined) =>
      prisma.pushSubscription.findMany({ where: { userId, ...(id !== undefined && { id }) } }),

    /** Saves what became of an attempt: of attempts that end at once, one counts. @param failures before it */
    async saveAttempt(id: number, failures: number, data: Attempt): Promise<void> {
      await prisma.pushSubscription.updateMany({ where: { id, failures }, data });
    },
  };
}
