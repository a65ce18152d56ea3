import type { Config } from '../../../infrastructure/config/config.ts';
import type { ExpiredRows } from '../../../infrastructure/database/clean-up.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { Session } from '../../../infrastructure/database/generated/client.ts';
import { afterTime, type PageRequest } from '../../../infrastructure/database/keyset.ts';
import { readTogether } from '../../../infrastructure/database/read-together.ts';
import { constant, sql } from '../../../infrastructure/database/sql.ts';
import type { UserRow } from '../accounts/repository.ts';
import type { TokenClaims } from '../tokens.ts';

/** Without an index of `expires_at`, which each refresh changes. */
export const expiredSessions: ExpiredRows = {
  table: 'sessions',
  condition: sql`expires_at < now()`,
  isScanned: true,
};

/** A session whose tokens can be issued. */
export type LiveSession = TokenClaims & { refreshExpiresIn: number };

type SessionUserRow = UserRow & { sessionId: string };

export type SessionRow = Pick<Session, 'id' | 'userAgent' | 'ip' | 'createdAt' | 'lastUsedAt' | 'methods'> & {
  authenticatedAt: Date;
};

/** Sessions: rows while they live, deleted when they end. All times are the database's, so instances need no common clock. */
export function createSessionRepository(database: Database, tokens: Config['tokens']) {
  // Constants in the text cost less than parameters.
  const interval = (seconds: number) => sql`make_interval(secs => ${constant(seconds)})`;
  const [refreshTtl, maxAge, grace] = [
    interval(tokens.refreshTtl),
    interval(tokens.sessionMaxAge),
    interval(tokens.reuseGrace),
  ];

  /** Whether the session `s` of the user `u` is live. */
  const isLive = sql`
    u.id = s.user_id AND u.suspended_at IS NULL AND s.expires_at > now()
    AND s.created_at > now() - ${maxAge}`;

  /** Every request that carries an access token needs one. */
  const findLiveUser = readTogether(
    (sessionIds: string[]) =>
      database.query<SessionUserRow>(sql`
        SELECT u.id, u.username, u.name, u.email, u.role, u.is_verified AS "isVerified", s.id AS "sessionId"
        FROM sessions s, users u WHERE s.id = ANY (${sessionIds}::uuid[]) AND ${isLive}`),
    (user) => user.sessionId,
  );

  async function findUser({
    userId,
    sessionId,
  }: Omit<TokenClaims, 'count'>): Promise<SessionUserRow | undefined> {
    const user = await findLiveUser(sessionId);
    return user?.id === userId ? user : undefined;
  }

  async function findLive(sessionIds: string[]): Promise<Set<string>> {
    const rows = await database.query<{ id: string }>(sql`
      SELECT s.id FROM sessions s JOIN users u ON ${isLive} WHERE s.id = ANY (${sessionIds}::uuid[])`);
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Uses a refresh token: the current count rotates, a count that was current within the grace time gets the current one. The row
   * lock serialises concurrent refreshes. `rotated_at` has when each of the latest counts stopped being current, newest last.
   * `width_bucket` finds those within the grace time faster than a subquery.
   */
  async function refresh({ userId, sessionId, count }: TokenClaims): Promise<LiveSession | undefined> {
    const [row] = await database.query<{ count: number; refreshExpiresIn: number }>(sql`
      UPDATE sessions s SET
        refresh_count = refresh_count + CASE WHEN refresh_count = ${count} THEN 1 ELSE 0 END,
        rotated_at = CASE WHEN refresh_count = ${count} THEN
          rotated_at[width_bucket(clock_timestamp() - ${grace}, rotated_at) + 1:] || clock_timestamp()
          ELSE rotated_at END,
        last_used_at = clock_timestamp(),
        expires_at = least(clock_timestamp() + ${refreshTtl}, s.created_at + ${maxAge})
      FROM users u
      WHERE s.id = ${sessionId}::uuid AND s.user_id = ${userId} AND ${isLive}
        AND (s.refresh_count = ${count}
          OR s.refresh_count > ${count} AND s.rotated_at[cardinality(s.rotated_at) - (s.refresh_count - ${count}) + 1]
            > clock_timestamp() - ${grace})
      RETURNING s.refresh_count AS count,
        least(${constant(tokens.refreshTtl)}, extract(epoch FROM s.created_at + ${maxAge} - clock_timestamp()))::float8 AS "refreshExpiresIn"`);
    return row && { userId, sessionId, ...row };
  }

  /** Ends a session whose refresh token was used again after its grace time. @returns whether that was the case */
  async function endReused({ userId, sessionId, count }: TokenClaims): Promise<boolean> {
    const ended = await database.execute(sql`
      DELETE FROM sessions s USING users u
      WHERE s.id = ${sessionId}::uuid AND s.user_id = ${userId} AND ${isLive} AND s.refresh_count > ${count}`);
    return ended > 0;
  }

  const end = async (userId: number, sessionId: string) =>
    (await database.prisma.session.deleteMany({ where: { id: sessionId, userId } })).count > 0;

  /** Ends the sessions and open logins of a user, with the push subscriptions of expired sessions; a trigger removes the others. */
  async function endAll(tx: Tx, userId: number, except?: string): Promise<void> {
    const isOther = except === undefined ? {} : { id: { not: except } };
    await tx.prisma.session.deleteMany({ where: { userId, ...isOther } });
    await tx.prisma.loginFlow.deleteMany({ where: { userId } });
    const isOfOther =
      except === undefined ? {} : { OR: [{ sessionId: null }, { sessionId: { not: except } }] };
    await tx.prisma.pushSubscription.deleteMany({ where: { userId, ...isOfOther } });
  }

  /** Saves that the user of a session proved again who they are. @returns undefined when the session has ended */
  async function confirm({ id: userId, sessionId }: SessionUserRow, method: string) {
    const [session] = await database.query<{ confirmedAt: Date }>(sql`
      UPDATE sessions SET confirmed_at = clock_timestamp(),
        methods = CASE WHEN ${method} = ANY (methods) THEN methods ELSE methods || ${method}::text END
      WHERE id = ${sessionId}::uuid AND user_id = ${userId}
      RETURNING confirmed_at AS "confirmedAt"`);
    return session?.confirmedAt;
  }

  /** Whether the user proved who they are within some seconds, and what the account could confirm with. */
  async function confirmation(tx: Tx, sessionId: string, lifetime: number) {
    const [row] = await tx.query<{ isRecent: boolean; needsReset: boolean; methods: string[] }>(sql`
      SELECT coalesce(s.confirmed_at, s.created_at) > now() - make_interval(secs => ${lifetime}) AS "isRecent",
        u.needs_reset AS "needsReset",
        CASE WHEN u.password_hash IS NOT NULL THEN ARRAY['password'] ELSE '{}' END
          || CASE WHEN EXISTS (SELECT FROM second_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL)
            THEN ARRAY['totp', 'recovery_code'] ELSE '{}' END
          || ARRAY(SELECT DISTINCT provider::text FROM identities i WHERE i.user_id = u.id) AS methods
      FROM sessions s JOIN users u ON ${isLive} WHERE s.id = ${sessionId}::uuid`);
    return row;
  }

  async function list(tx: Tx, userId: number, { after, limit }: PageRequest): Promise<SessionRow[]> {
    // Without a position the time alone decides.
    const anyId = '00000000-0000-0000-0000-000000000000';
    return tx.query<SessionRow>(sql`
      SELECT s.id, s.user_agent AS "userAgent", s.ip, s.created_at AS "createdAt", s.last_used_at AS "lastUsedAt",
        s.methods, coalesce(s.confirmed_at, s.created_at) AS "authenticatedAt"
      FROM sessions s JOIN users u ON ${isLive}
      WHERE s.user_id = ${userId}
        AND (s.created_at, s.id) < (${afterTime(after)}, ${after?.id ?? anyId}::uuid)
      ORDER BY s.created_at DESC, s.id DESC LIMIT ${limit}`);
  }

  return { findUser, findLive, refresh, endReused, end, endAll, confirmation, confirm, list };
}
