import type { JWT } from '@fastify/jwt';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Database, Tx } from '../database/client.ts';
import type { Idempotency } from '../http/idempotency.ts';
import { createMailSends } from '../mail/mail-sends.ts';
import type { MailQueue } from '../mail/queue.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createDerivedSecrets } from './derived-secrets.ts';
import { createPasswords } from './passwords.ts';
import { createAccountRepository } from './repository/accounts.ts';
import { createEmailChangeRepository } from './repository/email-changes.ts';
import { createEmailCodeRepository } from './repository/email-codes.ts';
import { createLoginFailureRepository } from './repository/login-failures.ts';
import { createPasswordResetRepository } from './repository/password-resets.ts';
import { createSessionRepository } from './repository/sessions.ts';
import { createUnverifiedAccountRepository } from './repository/unverified-accounts.ts';
import { createTokens } from './tokens.ts';

/** What `domains.ts` passes to this domain. */
export interface AuthOptions {
  config: Config;
  database: Database;
  jwt: JWT;
  logger: FastifyBaseLogger;
  metrics: Metrics;
  mailQueue: MailQueue;
  idempotency: Idempotency;
  /** Deletes what an account has in other domains, before the account itself is deleted in the same transaction. */
  deleteAccountData(tx: Tx, userId: number): Promise<void>;
  /**
   * Locks the store of a user until the transaction ends.
   *
   * @returns undefined when the user has no store and cannot get one before the transaction ends
   */
  lockStore(tx: Tx, userId: number): Promise<number | undefined>;
}

/** What the services and routes of this domain work with. */
export type AuthDependencies = ReturnType<typeof createAuthDependencies>;

/** Builds the repositories of this domain, its tokens and its password hashing. */
export function createAuthDependencies(options: AuthOptions) {
  const { config, database, jwt, logger, metrics } = options;
  const secrets = createDerivedSecrets(config.secrets);
  const accounts = createAccountRepository(database);
  return {
    ...options,
    tokens: createTokens(jwt, config.secrets),
    passwords: createPasswords(
      config,
      { findCosts: accounts.countHashCosts, secret: config.secrets[0] },
      { logger, metrics },
    ),
    accounts,
    unverifiedAccounts: createUnverifiedAccountRepository(database, config.email),
    sessions: createSessionRepository(database, config.tokens),
    emailChanges: createEmailChangeRepository(secrets),
    emailCodes: createEmailCodeRepository(secrets, config.email),
    passwordResets: createPasswordResetRepository(secrets, config.email),
    mailSends: createMailSends(config.email),
    loginFailures: createLoginFailureRepository(database, config.secrets[0]),
  };
}
