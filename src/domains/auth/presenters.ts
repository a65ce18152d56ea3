import type { UserRow } from './accounts/repository.ts';
import type { User } from './schemas.ts';
import type { SessionRow } from './sessions/repository.ts';

/** An account as the API shows it: exactly these fields. */
export function toUser({ id, username, name, email, role, isVerified }: UserRow): User {
  return { id, username, name, email, role, is_verified: isVerified };
}

/** A session as its user and operators see it. */
export function toSession({ id, userAgent, ip, methods, ...times }: SessionRow) {
  return {
    id,
    user_agent: userAgent,
    ip,
    created_at: times.createdAt.toISOString(),
    last_used_at: times.lastUsedAt.toISOString(),
    authenticated_at: times.authenticatedAt.toISOString(),
    methods,
  };
}
