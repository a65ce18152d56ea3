import type { FastifyRequest } from 'fastify';

/** What an operator may have to reconstruct later. */
export type SecurityEvent =
  | 'signup'
  | 'login'
  | 'login_failed'
  | 'login_delayed'
  | 'login_suspended'
  | 'refresh_reused'
  | 'logout'
  | 'session_ended'
  | 'password_reset_requested'
  | 'password_reset'
  | 'password_changed'
  | 'email_verified'
  | 'email_code_failed'
  | 'user_id_requested'
  | 'account_deleted';

/** Writes a security event to the log, with the request it belongs to. Never pass anything secret. */
export function audit(
  request: FastifyRequest,
  event: SecurityEvent,
  who: { userId?: number | undefined; sessionId?: string } = {},
) {
  const { userId, sessionId } = who;
  request.log.info({ event, userId, sessionId, address: request.ip }, `security event: ${event}`);
}
