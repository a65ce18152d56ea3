import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { currentUser } from '../../http/authentication.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import { addAuditEntry } from './repository.ts';

/** The person who administers the service: an admin through the API, or a person who runs the command. */
export interface Operator {
  /** As audit entries name the person: `admin:` and the id of the account, or `cli:` and a name. At most 100 characters. */
  name: string;
  /** Of an admin. */
  userId?: number;
  requestId?: string;
  address?: string;
  /** Gets one line for each audit entry, and for what an admin could not do. */
  log: Pick<FastifyBaseLogger, 'info'>;
}

/** The admin who sent a request, of a route with `access: 'admin'`. */
export function requestOperator(request: FastifyRequest): Operator {
  const { id: userId } = currentUser(request);
  const { id: requestId, clientIp: address, log } = request;
  return { name: `admin:${userId}`, userId, requestId, address, log };
}

/** The person who runs the command. */
export function commandOperator(name: string, log: Operator['log']): Operator {
  return { name: `cli:${name}`.slice(0, 100), log };
}

/** What operators do. The log has them as `admin_<action>`. */
export type AuditAction =
  | `${'users' | 'sessions' | 'failed_mails' | 'reports' | 'audit'}_listed`
  | `user_${'shown' | 'suspended' | 'reactivated' | 'deleted' | 'made_admin' | 'made_user'}`
  | `failed_mail_${'retried' | 'dropped'}`
  | `report_closed_${'none' | 'hide'}`
  | 'sessions_ended'
  | 'second_factor_removed'
  | 'jobs_unlocked';

type Subject = { kind: 'user' | 'failed_mail' | 'report'; id: number };
export interface AuditedAction {
  action: AuditAction;
  /** Undefined for lists, except those about one account. */
  subject?: Subject | undefined;
  reason?: string | undefined;
}
/** Who does it, and why. */
type By = { operator: Operator; reason: string | undefined };

export type Audit = ReturnType<typeof createAudit>;
/** Work of operators, none of which happens without an audit entry. */
export function createAudit(database: Database) {
  /**
   * Does an operator's work and writes its audit entry in one transaction, then a line of the log, without the reason. What an admin
   * could not do has no entry, and another line.
   */
  async function audited<Result>(
    operator: Operator,
    { action, subject, reason }: AuditedAction,
    work: (tx: Tx) => Promise<Result>,
  ): Promise<Result> {
    const { name, requestId = null, address, log } = operator;
    const logEvent = (event: string) =>
      log.info({ event, action, operator: name, subject, address }, `security event: ${event}`);
    try {
      const result = await database.transaction(async (tx) => {
        const result = await work(tx);
        const about = { subjectKind: subject?.kind ?? null, subjectId: subject?.id ?? null };
        const by = { operator: name, reason: reason ?? null, requestId, address: address ?? null };
        await addAuditEntry(tx, { action, ...about, ...by });
        return result;
      });
      logEvent(`admin_${action}`);
      return result;
    } catch (error) {
      if (operator.userId !== undefined) logEvent('admin_failed');
      throw error;
    }
  }

  /** Makes work on one subject a function for operators, who may say why. */
  const on =
    (kind: Subject['kind']) =>
    <Result>(action: AuditAction, work: (tx: Tx, id: number, by: By) => Promise<Result>) =>
    (operator: Operator, id: number, reason?: string): Promise<Result> =>
      audited(operator, { action, subject: { kind, id }, reason }, (tx) =>
        work(tx, id, { operator, reason }),
      );

  return { audited, on };
}
