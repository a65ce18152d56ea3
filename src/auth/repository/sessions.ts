import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { Connection, Database } from '../../database/client.ts';
import { Prisma } from '../../database/generated/client.ts';
import type { AccessClaims, CurrentUser } from '../../http/authentication.ts';
import type { Position } from '../../http/pagination.ts';
import type { TokenClaims } from '../tokens.ts';

/** A session whose tokens can be issued. */
export interface LiveSession extends TokenClaims {
  /** Seconds until the refresh token expires. */
  refreshExpiresIn: number;
}

/** A session as its user sees it. */
export interface ListedSession {
  id: string;
  user_agent: string;
  ip: string;
  created_at: Date;
  last_used_at: Date;
}

export type Sessions = ReturnType<typeof createSessionRepository>;

/** Sessions: rows while they live, deleted when they end. All times are the database's, so that instances need no common clock. */
export function createSessionRepository(database: Database, tokens: Config['tokens']) {
  const { refreshTtl, sessionMaxAge, reuseGrace } = tokens;
  const { client } = database;

  /** Whether the session `s` of the user `u` goes on. */
  const isLive = Prisma.sql`
    u.id = s.user_id AND u.suspended_at IS NULL AND s.expires_at > now()
    AND s.created_at > now() - make_interval(secs => ${sessionMaxAge})`;

  async function create(
    transaction: Connection,
    { userId, userAgent, ip }: { userId: number; userAgent: string; ip: string },
  ): Promise<LiveSession> {
    const sessionId = randomUUID();
    const lifetime = Math.min(refreshTtl, sessionMaxAge);
    await transaction.$executeRaw`
      INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
      VALUES (${sessionId}::uuid, ${userId}, '{}', ${userAgent}, ${ip}, now() + make_interval(secs => ${lifetime}))`;
    return { userId, sessionId, count: 0, refreshExpiresIn: lifetime };
  }

  /** The user of a live session. The query of every request that carries an access token. */
  async function findUser({ userId, sessionId }: AccessClaims): Promise<CurrentUser | undefined> {
    const { rows } = await database.query<CurrentUser>(
      'find_session_user',
      `
      SELECT u.id, u.username, u.name, u.email, u.role, u.is_verified, s.id AS "sessionId"
      FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE s.id = $1 AND s.user_id = $2 AND s.expires_at > now() AND u.suspended_at IS NULL`,
      [sessionId, userId],
    );
    return rows[0];
  }

  /** Which of some sessions have not ended. */
  async function findLive(sessionIds: string[]): Promise<Set<string>> {
    const { rows } = await database.query<{ id: string }>(
      'find_live_sessions',
      `
      SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE s.id = ANY ($1::uuid[]) AND s.expires_at > now() AND u.suspended_at IS NULL`,
      [sessionIds],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Uses a refresh token: the current one rotates, one that was current within the grace time is answered with the
   * current count. One statement, so that PostgreSQL puts parallel refreshes in a row.
   *
   * `rotated_at` holds, newest last, when each latest count stopped to be the current one.
   *
   * @returns undefined when the token is too old, or the session has ended
   */
  async function refresh({ userId, sessionId, count }: TokenClaims): Promise<LiveSession | undefined> {
    const [row] = await client.$queryRaw<{ refresh_count: number; lifetime: number }[]>`
      UPDATE sessions s SET
        refresh_count = refresh_count + CASE WHEN refresh_count = ${count} THEN 1 ELSE 0 END,
        rotated_at = CASE WHEN refresh_count = ${count} THEN
          ARRAY(SELECT t FROM unnest(rotated_at) t
                WHERE t > clock_timestamp() - make_interval(secs => ${reuseGrace}) ORDER BY t) || clock_timestamp()
          ELSE rotated_at END,
        last_used_at = clock_timestamp(),
        expires_at = least(clock_timestamp() + make_interval(secs => ${refreshTtl}),
                           s.created_at + make_interval(secs => ${sessionMaxAge}))
      FROM users u
      WHERE s.id = ${sessionId}::uuid AND s.user_id = ${userId} AND ${isLive}
        AND (s.refresh_count = ${count}
          OR s.refresh_count > ${count} AND s.rotated_at[cardinality(s.rotated_at) - (s.refresh_count - ${count}) + 1]
            > clock_timestamp() - make_interval(secs => ${reuseGrace}))
      RETURNING s.refresh_count, least(
        ${refreshTtl}::float8,
        extract(epoch FROM s.created_at + make_interval(secs => ${sessionMaxAge}) - clock_timestamp())
      )::float8 AS lifetime`;
    return row && { userId, sessionId, count: row.refresh_count, refreshExpiresIn: row.lifetime };
  }

  /** Ends a session whose refresh token came back after its grace time. @returns whether that was so */
  async function endReused({ userId, sessionId, count }: TokenClaims): Promise<boolean> {
    const ended = await client.$executeRaw`
      DELETE FROM sessions s USING users u
      WHERE s.id = ${sessionId}::uuid AND s.user_id = ${userId} AND ${isLive} AND s.refresh_count > ${count}`;
    return ended > 0;
  }

  /** @returns whether there was such a session */
  async function end({ userId, sessionId }: AccessClaims): Promise<boolean> {
    const ended = await client.session.deleteMany({ where: { id: sessionId, userId } });
    return ended.count > 0;
  }

  async function endAll(connection: Connection, userId: number, except?: string): Promise<number> {
    const ended = await connection.session.deleteMany({
      where: { userId, ...(except === undefined ? {} : { id: { not: except } }) },
    });
    return ended.count;
  }

  /** Live sessions of a user, newest first. */
  async function list(userId: number, limit: number, after: Position | undefined): Promise<ListedSession[]> {
    const older = after
      ? Prisma.sql`AND (s.created_at, s.id) < (${new Date(after.time)}::timestamptz, ${after.id}::uuid)`
      : Prisma.empty;
    return client.$queryRaw<ListedSession[]>`
      SELECT s.id, s.user_agent, s.ip, s.created_at, s.last_used_at
      FROM sessions s JOIN users u ON ${isLive}
      WHERE s.user_id = ${userId} ${older}
      ORDER BY s.created_at DESC, s.id DESC LIMIT ${limit}`;
  }

  return { create, findUser, findLive, refresh, endReused, end, endAll, list };
}
