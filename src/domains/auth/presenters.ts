import type { UserRow } from './repository/accounts.ts';
import type { SessionRow } from './repository/sessions.ts';
import type { MailSent, Session, User } from './schemas.ts';

/** An account as the API shows it: exactly the fields of the interface specification. */
export function toUser({ id, username, name, email, role, isVerified }: UserRow): User {
  return { id, username, name, email, role, is_verified: isVerified };
}

/**
 * A session as its user sees it.
 *
 * @param currentSessionId the session of the request
 */
export function toSession(row: SessionRow, currentSessionId: string): Session {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at.toISOString(),
    is_current: row.id === currentSessionId,
  };
}

/** The response to a request for a mail. */
export function toMailSent({ allowed, resendAfter }: { allowed: boolean; resendAfter: number }): MailSent {
  return { accepted: allowed, resend_after: resendAfter };
}
