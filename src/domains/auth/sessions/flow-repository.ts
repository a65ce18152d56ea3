import { randomUUID } from 'node:crypto';
import type { ExpiredRows } from '../../../infrastructure/database/clean-up.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import type { LoginFlow as LoginFlowRow } from '../../../infrastructure/database/generated/client.ts';
import type { LoginFlowKind } from '../../../infrastructure/database/generated/enums.ts';
import { type Sql, sql } from '../../../infrastructure/database/sql.ts';
import type { DerivedSecrets, FlowSecret } from '../secrets.ts';

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

export const expiredLoginFlows: ExpiredRows = { table: 'login_flows', condition: sql`expires_at < now()` };

/** What the later requests of a flow need. Nothing secret. */
interface FlowContent {
  /** Whose flow it is, and the only session that may end it. */
  user?: { id: number; sessionId?: string } | undefined;
  data?: object;
}

/** A flow that is not over. */
export type LoginFlow<Data> = Omit<LoginFlowRow, 'kind' | 'data' | 'expiresAt'> & { data: Data };

/**
 * Logins, and additions of ways to log in, that take several requests. The client keeps the token of its flow; the database settles
 * that a flow ends once. Flows with a user are ended in a statement of their own, because what ends the sessions of a user
 * deletes their flows after locking the user.
 */
export function createFlowRepository(secrets: DerivedSecrets) {
  const columns = sql`id, key_id AS "keyId", user_id AS "userId", session_id AS "sessionId", data, attempts`;

  /** The condition of the row of a token. A text that is none has no row. */
  function rowOf(kind: LoginFlowKind, token: string): Sql {
    const opened = secrets.open(`${kind} flow`, token);
    if (opened === undefined) return sql`false`;
    const { id, keyId } = opened;
    return sql`id = ${id}::uuid AND key_id = ${keyId} AND kind = ${kind}::login_flow_kind AND expires_at > now()`;
  }

  return {
    /** Begins a flow. That of an account that is deleted meanwhile is no user's, so it cannot be ended. */
    async begin(tx: Tx, kind: LoginFlowKind, { user, data = {} }: FlowContent = {}) {
      const id = randomUUID();
      await tx.execute(sql`
        INSERT INTO login_flows (id, kind, user_id, session_id, data, key_id, expires_at)
        VALUES (${id}::uuid, ${kind}::login_flow_kind,
          (SELECT id FROM users WHERE id = ${user?.id ?? null} FOR KEY SHARE), ${user?.sessionId ?? null}::uuid,
          ${JSON.stringify(data)}::jsonb, ${secrets.keyId}, now() + make_interval(secs => ${flowLifetimes[kind]}))`);
      return { id, keyId: secrets.keyId, token: secrets.newToken(`${kind} flow`, id) };
    },

    /** What a flow sends to a provider or an authenticator. @throws Error when the secret of its time is no longer configured */
    secret({ id, keyId }: Pick<LoginFlow<unknown>, 'id' | 'keyId'>, purpose: FlowSecret): string {
      const secret = secrets.derive(purpose, id, keyId);
      if (secret === undefined) throw new Error('the secret of a login flow is not configured');
      return secret;
    },

    /** Counts an attempt before it is checked, so that concurrent ones cannot exceed the limit. @returns undefined when it is over */
    async attempt<Data>(tx: Tx, kind: LoginFlowKind, token: string) {
      const [flow] = await tx.query<LoginFlow<Data>>(sql`
        UPDATE login_flows SET attempts = attempts + 1
        WHERE ${rowOf(kind, token)} AND attempts < ${maxFlowAttempts} RETURNING ${columns}`);
      return flow;
    },

    /** Reads a flow and locks it until the transaction ends. @returns undefined when it is over */
    async lock<Data>(tx: Tx, kind: LoginFlowKind, token: string): Promise<LoginFlow<Data> | undefined> {
      const [flow] = await tx.query<LoginFlow<Data>>(sql`
        SELECT ${columns} FROM login_flows WHERE ${rowOf(kind, token)} FOR UPDATE`);
      return flow;
    },

    /** Ends a flow. Of concurrent calls one gets it. @returns undefined when it is over */
    async end<Data>(tx: Tx, kind: LoginFlowKind, token: string): Promise<LoginFlow<Data> | undefined> {
      const [flow] = await tx.query<LoginFlow<Data>>(sql`
        DELETE FROM login_flows WHERE ${rowOf(kind, token)} RETURNING ${columns}`);
      return flow;
    },
  };
}
