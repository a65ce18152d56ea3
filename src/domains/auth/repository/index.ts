import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database } from '../../../infrastructure/database/client.ts';
import { createMailSends } from '../../../infrastructure/mail/mail-sends.ts';
import type { DerivedSecrets } from '../tokens.ts';
import { createAccountRepository, expiredKnownAddresses } from './accounts.ts';
import {
  createEmailCodeRepository,
  createPasswordResetRepository,
  createUndoLinkRepository,
  expiredCodesAndLinks,
} from './codes-and-links.ts';
import { createLoginFailureRepository, expiredLoginFailures } from './login-failures.ts';
import { createSessionRepository, expiredSessions } from './sessions.ts';

export const expiredAuthRows = [
  expiredSessions,
  ...expiredCodesAndLinks,
  expiredLoginFailures,
  expiredKnownAddresses,
];

export type AuthRepository = ReturnType<typeof createAuthRepository>;

/** What this domain stores, and the counts of the emails that anyone can request. */
export function createAuthRepository(config: Config, database: Database, secrets: DerivedSecrets) {
  return {
    accounts: createAccountRepository(database, config.email),
    sessions: createSessionRepository(database, config.tokens),
    loginFailures: createLoginFailureRepository(database, config.secrets[0]),
    emailCodes: createEmailCodeRepository(database, secrets, config.email),
    passwordResets: createPasswordResetRepository(database, secrets, config.email),
    undoLinks: createUndoLinkRepository(database, secrets),
    mailSends: createMailSends(config.email),
  };
}
