import { randomUUID } from 'node:crypto';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type {
  LoginFlow as LoginFlowRow,
  Session,
} from '../../../infrastructure/database/generated/client.ts';
import type { LoginFlowKind } from '../../../infrastructure/database/generated/enums.ts';
import { afterTime, type PageRequest } from '../../../infrastructure/database/keyset.ts';
import { readTogether } from '../../../infrastructure/database/shared-reads.ts';
import { constant, sql } from '../../../infrastructure/database/sql.ts';
import type { UserRow } from '../accounts/repository.ts';
import { type DerivedSecrets, noId } from '../secrets.ts';
import type { TokenClaims } from '../tokens.ts';

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
  const { refreshTtl, sessionMaxAge, reuseGrace } = tokens;
  const [maxAge, grace] = [interval(sessionMaxAge), interval(reuseGrace)];

  /** Whether the session `s` of the user `u` is live. */
  const isLive = sql`
    u.id = s.user_id AND u.suspended_at IS NULL AND s.expires_at > now()
    AND s.created_at > now() - ${maxAge}`;

  /** Every request that carries an access token needs one. */
  const findLiveUser = readTogether(
    (sessionIds: string[]) =>
      database.query<SessionUserRow>(sql`/* auth.findSessionUsers */
        SELECT u.id, u.username, u.name, u.email, u.role, u.is_verified AS "isVerified", s.id AS "sessionId"
        FROM sessions s, users u WHERE s.id = ANY (${sessionIds}::uuid[]) AND ${isLive}`),
    (user) => user.sessionId,
  );

  async function findUser({ userId, sessionId }: Omit<TokenClaims, 'count'>) {
    const user = await findLiveUser(sessionId);
    return user?.id === userId ? user : undefined;
  }

  async function findLive(sessionIds: string[]): Promise<Set<string>> {
    const rows = await database.query<{ id: string }>(sql`/* auth.findLiveSessions */
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
      /* auth.refreshSession */ UPDATE sessions s SET
        refresh_count = refresh_count + CASE WHEN refresh_count = ${count} THEN 1 ELSE 0 END,
        rotated_at = CASE WHEN refresh_count = ${count} THEN
          rotated_at[width_bucket(clock_timestamp() - ${grace}, rotated_at) + 1:] || clock_timestamp()
          ELSE rotated_at END,
        last_used_at = clock_timestamp(),
        expires_at = least(clock_timestamp() + ${interval(refreshTtl)}, s.created_at + ${maxAge})
      FROM users u
      WHERE s.id = ${sessionId}::uuid AND s.user_id = ${userId} AND ${isLive}
        AND (s.refresh_count = ${count}
          OR s.refresh_count > ${count} AND s.rotated_at[cardinality(s.rotated_at) - (s.refresh_count - ${count}) + 1]
            > clock_timestamp() - ${grace})
      RETURNING s.refresh_count AS count,
        least(${constant(refreshTtl)}, extract(epoch FROM s.created_at + ${maxAge} - clock_timestamp()))::float8 AS "refreshExpiresIn"`);
    return row && { userId, sessionId, ...row };
  }

  /** Ends a session whose refresh token was used again after its grace time. @returns whether that was the case */
  async function endReused({ userId, sessionId, count }: TokenClaims): Promise<boolean> {
    const ended = await database.execute(sql`/* auth.endReusedSession */
      DELETE FROM sessions s USING users u
      WHERE s.id = ${sessionId}::uuid AND s.user_id = ${userId} AND ${isLive} AND s.refresh_count > ${count}`);
    return ended > 0;
  }

  const end = async (userId: number, sessionId: string) =>
    (await database.prisma.session.deleteMany({ where: { id: sessionId, userId } })).count > 0;

  /** Ends the sessions and open logins of a user, with the push subscriptions of expired sessions; a trigger removes the others. */
  async function endAll(tx: Tx, userId: number, except = noId): Promise<void> {
    await tx.prisma.session.deleteMany({ where: { userId, id: { not: except } } });
    await tx.prisma.loginFlow.deleteMany({ where: { userId } });
    const isOfOther = { OR: [{ sessionId: null }, { sessionId: { not: except } }] };
    await tx.prisma.pushSubscription.deleteMany({ where: { userId, ...isOfOther } });
  }

  /** Saves that the user of a session proved again who they are. @returns undefined when the session has ended */
  async function confirm({ id: userId, sessionId }: SessionUserRow, method: string) {
    const [session] = await database.query<{ confirmedAt: Date }>(sql`/* auth.confirmSession */
      UPDATE sessions SET confirmed_at = clock_timestamp(),
        methods = CASE WHEN ${method} = ANY (methods) THEN methods ELSE methods || ${method}::text END
      WHERE id = ${sessionId}::uuid AND user_id = ${userId}
      RETURNING confirmed_at AS "confirmedAt"`);
    return session?.confirmedAt;
  }

  /** Whether the user proved who they are within some seconds, and what the account could confirm with. */
  async function confirmation(tx: Tx, sessionId: string, lifetime: number) {
    const [row] = await tx.query<{ isRecent: boolean; needsReset: boolean; methods: string[] }>(sql`
      /* auth.findConfirmation */ SELECT coalesce(s.confirmed_at, s.created_at) > now() - make_interval(secs => ${lifetime}) AS "isRecent",
        u.needs_reset AS "needsReset",
        CASE WHEN u.password_hash IS NOT NULL THEN ARRAY['password'] ELSE '{}' END
          || CASE WHEN EXISTS (SELECT FROM second_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL)
            THEN ARRAY['totp', 'recovery_code'] ELSE '{}' END
          || ARRAY(SELECT DISTINCT provider::text FROM identities i WHERE i.user_id = u.id) AS methods
      FROM sessions s JOIN users u ON ${isLive} WHERE s.id = ${sessionId}::uuid`);
    return row;
  }

  async function list(tx: Tx, userId: number, { after, limit }: PageRequest): Promise<SessionRow[]> {
    return tx.query<SessionRow>(sql`/* auth.listSessions */
      SELECT s.id, s.user_agent AS "userAgent", s.ip, s.created_at AS "createdAt", s.last_used_at AS "lastUsedAt",
        s.methods, coalesce(s.confirmed_at, s.created_at) AS "authenticatedAt"
      FROM sessions s JOIN users u ON ${isLive}
      WHERE s.user_id = ${userId}
        AND (s.created_at, s.id) < (${afterTime(after)}, ${after?.id ?? noId}::uuid)
      ORDER BY s.created_at DESC, s.id DESC LIMIT ${limit}`);
  }

  return { findUser, findLive, refresh, endReused, end, endAll, confirmation, confirm, list };
}

/** Seconds. */
export const flowLifetimes: Record<LoginFlowKind, number> = {
  provider: 600,
  link: 600,
  sign_up: 1800,
  second_factor: 300,
  passkey_login: 300,
  passkey_registration: 300,
};

/** Codes that may be tried with the token of a flow. */
export const maxFlowAttempts = 5;

/** What the later requests of a flow need. Nothing secret. */
interface FlowContent {
  /** Whose flow it is, and the only session that may end it. */
  user?: { id: number; sessionId?: string } | undefined;
  data?: object;
}

/** A flow that is not over. */
export type LoginFlow<Data> = Omit<LoginFlowRow, 'data'> & { data: Data };

const toFlow = <Data>(row: LoginFlowRow): LoginFlow<Data> => ({ ...row, data: row.data as Data });

/**
 * Logins, and additions of ways to log in, that take several requests. The client keeps the token of its flow; the database settles
 * that a flow ends once. Flows with a user are ended in a statement of their own, because what ends the sessions of a user
 * deletes their flows after locking the user.
 */
export function createFlowRepository(secrets: DerivedSecrets) {
  /** The row of a token, while it is not over. */
  const rowOf = (kind: LoginFlowKind, token: string) => ({
    ...secrets.open(`${kind} flow`, token),
    kind,
    expiresAt: { gt: new Date() },
  });

  /** @returns undefined when it is over */
  async function find<Data>(tx: Tx, kind: LoginFlowKind, token: string) {
    const flow = await tx.prisma.loginFlow.findFirst({ where: rowOf(kind, token) });
    return flow === null ? undefined : toFlow<Data>(flow);
  }

  return {
    /** Begins a flow. That of an account that is deleted meanwhile is no user's, so it cannot be ended. */
    async begin(tx: Tx, kind: LoginFlowKind, { user, data = {} }: FlowContent = {}) {
      const id = randomUUID();
      await tx.execute(sql`/* auth.beginFlow */
        INSERT INTO login_flows (id, kind, user_id, session_id, data, key_id, expires_at)
        VALUES (${id}::uuid, ${kind}::login_flow_kind,
          (SELECT id FROM users WHERE id = ${user?.id ?? null} FOR KEY SHARE), ${user?.sessionId ?? null}::uuid,
          ${JSON.stringify(data)}::jsonb, ${secrets.keyId}, now() + make_interval(secs => ${flowLifetimes[kind]}))`);
      return { id, keyId: secrets.keyId, token: secrets.newToken(`${kind} flow`, id) };
    },

    /** Counts an attempt before it is checked, so that concurrent ones cannot exceed the limit. @returns undefined when it is over */
    async attempt<Data>(tx: Tx, kind: LoginFlowKind, token: string) {
      const where = { ...rowOf(kind, token), attempts: { lt: maxFlowAttempts } };
      const data = { attempts: { increment: 1 } };
      const [flow] = await tx.prisma.loginFlow.updateManyAndReturn({ where, data });
      return flow && toFlow<Data>(flow);
    },

    find,
    secret: secrets.derive,

    /** Ends a flow. Of concurrent calls one gets it. @returns undefined when it is over */
    async end<Data>(tx: Tx, kind: LoginFlowKind, token: string) {
      const flow = await find<Data>(tx, kind, token);
      const { count } = await tx.prisma.loginFlow.deleteMany({ where: rowOf(kind, token) });
      return count > 0 ? flow : undefined;
    },
  };
}
