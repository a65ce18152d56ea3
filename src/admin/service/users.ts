import type { Database, Tx } from '../../database/client.ts';
import { ApiError, httpErrors } from '../../http/errors.ts';
import { paginate, paginateBounded } from '../../http/pagination.ts';
import { isId, isUuid } from '../../http/path-ids.ts';
import type { AccountAdministration } from '../accounts.ts';
import type { Audit, AuditAction, AuditedAction } from '../audit.ts';
import { adminErrors } from '../errors.ts';
import type { Operator } from '../operator.ts';
import { toAdminSession, toAdminUser } from '../presenters.ts';
import { adminUsers } from '../repository/users.ts';
import type { AdminUser } from '../schemas.ts';

/** A page of a list, as a query of the API or options of the command. */
export interface PageQuery {
  limit: number;
  cursor?: string;
}

interface UserAdministrationOptions {
  database: Database;
  audit: Audit;
  accounts: AccountAdministration;
}

export type UserAdministration = ReturnType<typeof createUserAdministration>;

/** What operators do with accounts, through the API and through the command. Each call writes an audit entry. */
export function createUserAdministration({ database, audit, accounts }: UserAdministrationOptions) {
  const { audited } = audit;

  /** Work on one account. @throws {ApiError} `not_found` */
  function onUser<Result>(
    operator: Operator,
    action: AuditAction,
    { id, reason }: { id: number; reason?: string | undefined },
    work: (tx: Tx) => Promise<Result>,
  ): Promise<Result> {
    return audited(operator, { action, subject: { kind: 'user', id }, reason }, work);
  }

  /** The account whose id, username or e-mail address a text is; undefined where there is none. */
  function findId(reference: string): Promise<number | undefined> {
    return adminUsers.findId(database, toReference(reference));
  }

  /** Accounts, newest first. An id or a whole e-mail address finds that account only. @throws {ApiError} `invalid_cursor` */
  function list(operator: Operator, query: PageQuery & { q?: string }) {
    const q = query.q ?? '';
    return audited(operator, usersListed, async (tx) => {
      const id = isId(q) || q.includes('@') ? await adminUsers.findId(tx, toReference(q)) : undefined;
      if (id !== undefined) return { items: [await find(tx, id)], next_cursor: null };
      return paginateBounded(query, {
        isId,
        find: (page) => adminUsers.list(tx, { q, ...page }),
        present: toAdminUser,
      });
    });
  }

  /** @throws {ApiError} `not_found` */
  function show(operator: Operator, id: number): Promise<AdminUser> {
    return onUser(operator, 'user_shown', { id }, (tx) => find(tx, id));
  }

  /**
   * Suspends an account, or changes the reason of a suspension: its sessions end, and its store and posts are not found.
   *
   * @throws {ApiError} `not_found`; `forbidden` for an admin's account, unless by the command
   */
  function suspend(operator: Operator, id: number, reason: string): Promise<AdminUser> {
    return onUser(operator, 'user_suspended', { id, reason }, async (tx) => {
      await lockSuspendable(tx, operator, id);
      await adminUsers.suspend(tx, id, reason);
      return find(tx, id);
    });
  }

  /** Lifts a suspension, if there is one. @throws {ApiError} as {@link suspend} */
  function reactivate(operator: Operator, id: number): Promise<AdminUser> {
    return onUser(operator, 'user_reactivated', { id }, async (tx) => {
      await lockSuspendable(tx, operator, id);
      await adminUsers.reactivate(tx, id);
      return find(tx, id);
    });
  }

  /** Live sessions of an account, newest first. @throws {ApiError} `not_found`, `invalid_cursor` */
  function listSessions(operator: Operator, id: number, query: PageQuery) {
    return onUser(operator, 'sessions_listed', { id }, async (tx) => {
      refuseMissing(await adminUsers.exists(tx, id));
      return paginate(query, {
        isId: isUuid,
        find: (page) => accounts.listSessions(tx, id, page),
        present: toAdminSession,
      });
    });
  }

  /** Ends all sessions of an account. @throws {ApiError} `not_found` */
  function endSessions(operator: Operator, id: number): Promise<void> {
    return onUser(operator, 'sessions_ended', { id }, async (tx) => {
      refuseMissing(await adminUsers.exists(tx, id));
      await accounts.endSessions(tx, id);
    });
  }

  /** Makes an account an admin's or takes that away. @throws {ApiError} `not_found` */
  function setRole(operator: Operator, id: number, role: AdminUser['role']): Promise<AdminUser> {
    const action = role === 'admin' ? 'user_made_admin' : 'user_made_user';
    return onUser(operator, action, { id }, async (tx) => {
      refuseMissing(await adminUsers.setRole(tx, id, role));
      return find(tx, id);
    });
  }

  /** Deletes an account as by its owner. @throws {ApiError} `not_found` */
  function deleteAccount(operator: Operator, id: number, reason?: string): Promise<void> {
    return onUser(operator, 'user_deleted', { id, reason }, async (tx) => {
      refuseMissing(await accounts.deleteAccount(tx, id));
    });
  }

  return { findId, list, show, suspend, reactivate, listSessions, endSessions, setRole, deleteAccount };
}

/** The id or the name that a text is; no username begins with a digit. */
function toReference(text: string) {
  return { id: isId(text) ? Number(text) : null, name: text };
}

/** @throws {ApiError} `not_found` */
async function find(tx: Tx, id: number): Promise<AdminUser> {
  const user = await adminUsers.find(tx, id);
  if (user === undefined) throw new ApiError(httpErrors.notFound);
  return toAdminUser(user);
}

/**
 * Locks an account. Only the command suspends admins, so that one of them cannot lock out the others.
 *
 * @throws {ApiError} `not_found`, `forbidden`
 */
async function lockSuspendable(tx: Tx, { userId }: Operator, id: number): Promise<void> {
  const role = await adminUsers.lockRole(tx, id);
  refuseMissing(role !== undefined);
  if (role === 'admin' && userId !== undefined) throw new ApiError(adminErrors.adminAccount);
}

/** Where one account is shown, the entry names it. */
function usersListed({ items }: { items: AdminUser[] }): AuditedAction {
  const [only] = items.length === 1 ? items : [];
  return { action: 'users_listed', subject: only && { kind: 'user', id: only.id } };
}

function refuseMissing(exists: boolean): void {
  if (!exists) throw new ApiError(httpErrors.notFound);
}
