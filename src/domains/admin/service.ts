import { ApiError, found, httpErrors } from '../../http/errors.ts';
import { type PageQuery, paginate } from '../../http/pagination.ts';
import { isBigId, isId, isUuid } from '../../http/schemas.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import type { PageRequest } from '../../infrastructure/database/keyset.ts';
import type { MailQueue } from '../../infrastructure/mail/queue.ts';
import { type AccountAdministration, toSession, toUser } from '../auth/index.ts';
import { toStoreSummary } from '../stores/index.ts';
import type { Audit, Operator } from './audit.ts';
import * as repository from './repository.ts';
import { type AdminUser, adminErrors } from './schemas.ts';

export interface AdminOptions {
  database: Database;
  audit: Audit;
  accounts: AccountAdministration;
  mailQueue: MailQueue;
}

export type UserAdministration = ReturnType<typeof createUserAdministration>;
/** What operators do with accounts, through the API and through the command. Each call writes an audit entry. */
export function createUserAdministration({ database, audit, accounts }: AdminOptions) {
  const onUser = audit.on('user');

  async function find(tx: Tx, id: number): Promise<AdminUser> {
    return toAdminUser(found(await repository.findUser(tx, id)));
  }

  const show = onUser('user_shown', find);

  /** Only the command does so with admins, so that one of them cannot lock out the others. */
  const setSuspension = (action: 'user_suspended' | 'user_reactivated') =>
    onUser(action, async (tx, id, { operator, reason = '' }) => {
      await repository.setSuspension(tx, id, action === 'user_suspended' ? reason : null);
      const user = await find(tx, id);
      if (user.role === 'admin' && operator.userId !== undefined)
        throw new ApiError(adminErrors.adminAccount);
      return user;
    });

  return {
    /** The account whose id, username or email address a text is; undefined where there is none. */
    findId: (reference: string) => repository.findUserId(database, toReference(reference)),

    /** Accounts, newest first. An id or a whole email address shows that account. @throws {ApiError} `invalid_cursor` */
    async list(operator: Operator, { q = '', ...query }: PageQuery & { q?: string | undefined }) {
      const isExact = isId(q) || q.includes('@');
      const id = isExact ? await repository.findUserId(database, toReference(q)) : undefined;
      if (id !== undefined) return { items: [await show(operator, id)], next_cursor: null };
      return audit.audited(operator, { action: 'users_listed' }, (tx) => {
        const listed = (page: PageRequest) => repository.listUsers(tx, { q, ...page });
        return paginate(query, { isId, find: listed, present: toAdminUser });
      });
    },

    show,

    /** Suspends an account, or changes why. @throws {ApiError} `not_found`; `forbidden` for an admin's, unless by the command */
    suspend: setSuspension('user_suspended'),

    reactivate: setSuspension('user_reactivated'),

    listSessions(operator: Operator, id: number, query: PageQuery) {
      const list = onUser('sessions_listed', async (tx) => {
        await find(tx, id);
        const listed = (page: PageRequest) => accounts.listSessions(tx, id, page);
        return paginate(query, { isId: isUuid, find: listed, present: toSession });
      });
      return list(operator, id);
    },

    endSessions: onUser('sessions_ended', async (tx, id) => {
      await find(tx, id);
      await accounts.endSessions(tx, id);
    }),

    /** Removes the second factor of an account, if there is one, with its recovery codes; its user gets a notice. */
    removeSecondFactor: onUser('second_factor_removed', async (tx, id) => {
      await find(tx, id);
      await accounts.removeSecondFactor(tx, id);
    }),

    setRole(operator: Operator, id: number, role: AdminUser['role']): Promise<AdminUser> {
      const set = onUser(role === 'admin' ? 'user_made_admin' : 'user_made_user', async (tx) => {
        await repository.setRole(tx, id, role);
        return find(tx, id);
      });
      return set(operator, id);
    },

    deleteAccount: onUser('user_deleted', async (tx, id) => {
      if (!(await accounts.deleteAccount(tx, id))) throw new ApiError(httpErrors.notFound);
    }),
  };
}

export type FailedMailAdministration = ReturnType<typeof createFailedMailAdministration>;
/** What operators do with emails that failed permanently, through the API and through the command. */
export function createFailedMailAdministration({ audit, mailQueue }: AdminOptions) {
  const onMail = audit.on('failed_mail');

  return {
    list(operator: Operator, query: PageQuery) {
      return audit.audited(operator, { action: 'failed_mails_listed' }, (tx) =>
        paginate(query, {
          isId: isBigId,
          find: (page) => repository.listFailedMails(tx, page),
          present: toFailedMail,
        }),
      );
    },

    /** Puts an email back into the queue: it leaves the failed ones in the same transaction. @throws {ApiError} `not_found` */
    retry: onMail('failed_mail_retried', async (tx, id) => {
      const mail = found(await repository.takeFailedMail(tx, id));
      await mailQueue.add(tx, mail.kind, mail.payload);
    }),

    drop: onMail('failed_mail_dropped', async (tx, id) => {
      found(await repository.takeFailedMail(tx, id));
    }),
  };
}

/** The id or the name that a text is; no username begins with a digit. */
const toReference = (text: string) => ({ id: isId(text) ? Number(text) : undefined, name: text });

function toAdminUser({ store, ...row }: repository.AdminUserRow): AdminUser {
  return {
    ...toUser(row),
    suspended_at: row.suspendedAt?.toISOString() ?? null,
    suspended_reason: row.suspendedReason,
    created_at: row.createdAt.toISOString(),
    last_login_at: row.lastLoginAt?.toISOString() ?? null,
    store: store && toStoreSummary(store),
  };
}

function toFailedMail({ id, userId, kind, reason, attempts, createdAt }: repository.FailedMailRow) {
  return { id, user_id: userId, kind, reason, attempts, created_at: createdAt.toISOString() };
}
