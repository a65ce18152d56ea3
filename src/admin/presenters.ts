import type { AccountSession } from './accounts.ts';
import type { FailedMailRow } from './repository/failed-mails.ts';
import type { AdminUserRow } from './repository/users.ts';
import type { AdminUser, FailedMail } from './schemas.ts';

/** An account as admins see it. */
export function toAdminUser(row: AdminUserRow): AdminUser {
  return {
    ...row,
    suspended_at: row.suspended_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    last_login_at: row.last_login_at?.toISOString() ?? null,
  };
}

/** A session of another user. */
export function toAdminSession(row: AccountSession) {
  return { ...row, created_at: row.created_at.toISOString(), last_used_at: row.last_used_at.toISOString() };
}

/** A failed mail as admins see it. */
export function toFailedMail(row: FailedMailRow): FailedMail {
  return { ...row, created_at: row.created_at.toISOString() };
}
