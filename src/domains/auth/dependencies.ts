import type { JWT } from '@fastify/jwt';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Idempotency } from '../../infrastructure/idempotency/idempotency.ts';
import { createMailSends } from '../../infrastructure/mail/mail-sends.ts';
import type { MailQueue } from '../../infrastructure/mail/queue.ts';
import type { Metrics } from '../../infrastructure/metrics/metrics.ts';
import { createPasswords } from './passwords.ts';
import { createAccountRepository } from './repository/accounts.ts';
import {
  createEmailCodeRepository,
  createPasswordResetRepository,
  createUndoLinkRepository,
} from './repository/codes-and-links.ts';
import { createLoginFailureRepository } from './repository/login-failures.ts';
import { createSessionRepository } from './repository/sessions.ts';
import { createDerivedSecrets, createTokens } from './tokens.ts';

export interface AuthOptions {
  config: Config;
  database: Database;
  jwt: JWT;
  logger: FastifyBaseLogger;
  metrics: Metrics;
  mailQueue: MailQueue;
  idempotency: Idempotency;
}

export type AuthDependencies = ReturnType<typeof createDependencies>;

/** What the services of this domain work with: what it is given, its repositories, passwords and tokens. */
export function createDependencies(options: AuthOptions) {
  const { config, database, jwt } = options;
  const secrets = createDerivedSecrets(config.secrets);
  const accounts = createAccountRepository(database, config.email);
  return {
    ...options,
    mailSends: createMailSends(config.email),
    passwords: createPasswords(config, accounts.countHashCosts, options),
    tokens: createTokens(jwt, config.secrets),
    accounts,
    sessions: createSessionRepository(database, config.tokens),
    loginFailures: createLoginFailureRepository(database, config.secrets[0]),
    emailCodes: createEmailCodeRepository(database, secrets, config.email),
    passwordResets: createPasswordResetRepository(database, secrets, config.email),
    undoLinks: createUndoLinkRepository(database, secrets),
  };
}
