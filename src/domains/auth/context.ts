import type { Config } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import { createMailSends } from '../../infrastructure/mail/mail-sends.ts';
import type { MailQueue } from '../../infrastructure/mail/queue.ts';
import { createAccountRepository } from './accounts/repository.ts';
import {
  createEmailCodeRepository,
  createPasswordResetRepository,
  createUndoLinkRepository,
  expiredCodesAndLinks,
} from './codes/repository.ts';
import { createConsentRepository } from './consents/repository.ts';
import { createIdentityRepository } from './providers/repository.ts';
import { createLoginFailureRepository, expiredLoginFailures } from './sessions/failure-repository.ts';
import { createLoginFlowRepository, expiredLoginFlows } from './sessions/flow-repository.ts';
import { createLoginRepository, expiredKnownAddresses } from './sessions/login-repository.ts';
import { createSessionRepository, expiredSessions } from './sessions/repository.ts';
import type { DerivedSecrets } from './tokens.ts';

export const expiredAuthRows = [
  expiredSessions,
  ...expiredCodesAndLinks,
  expiredLoginFailures,
  expiredKnownAddresses,
  expiredLoginFlows,
];

export type AuthRepository = ReturnType<typeof createAuthRepository>;

/** What this domain stores, and the counts of the emails that anyone can request. */
export function createAuthRepository(
  config: Config,
  database: Database,
  secrets: DerivedSecrets,
  mailQueue: MailQueue,
) {
  const loginFailures = createLoginFailureRepository(database, config.secrets[0]);
  return {
    accounts: createAccountRepository(database, config.email),
    sessions: createSessionRepository(database, config.tokens),
    logins: createLoginRepository(database, config.tokens, loginFailures),
    loginFailures,
    identities: createIdentityRepository(database),
    consents: createConsentRepository(database, mailQueue),
    loginFlows: createLoginFlowRepository(secrets),
    emailCodes: createEmailCodeRepository(database, secrets, config.email),
    passwordResets: createPasswordResetRepository(database, secrets, config.email),
    undoLinks: createUndoLinkRepository(database, secrets),
    mailSends: createMailSends(config.email),
  };
}
