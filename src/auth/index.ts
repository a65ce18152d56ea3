import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Connection, Database } from '../database/client.ts';
import type { Authenticator } from '../http/authentication.ts';
import type { Idempotency } from '../http/idempotency.ts';
import type { MailQueue } from '../mail/queue.ts';
import type { AuthDependencies } from './dependencies.ts';
import { createDerivedSecrets } from './derived-secrets.ts';
import { authMails } from './mails.ts';
import { createPasswords } from './passwords.ts';
import { createAccountRepository } from './repository/accounts.ts';
import { createEmailCodeRepository } from './repository/email-codes.ts';
import { createLoginFailureRepository } from './repository/login-failures.ts';
import { createMailSendRepository } from './repository/mail-sends.ts';
import { createPasswordResetRepository } from './repository/password-resets.ts';
import { createSessionRepository } from './repository/sessions.ts';
import { accountRoutes } from './routes/account.ts';
import { emailVerificationRoutes } from './routes/email-verification.ts';
import { recoveryRoutes } from './routes/recovery.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { authSchemas } from './schemas.ts';
import { createTokens } from './tokens.ts';

interface AuthOptions {
  config: Config;
  database: Database;
  mailQueue: MailQueue;
  closeAccount(transaction: Connection, userId: number): Promise<void>;
}

/**
 * Builds the authentication domain: who a token belongs to, the mails it sends, and its routes under `/auth`.
 *
 * `@fastify/jwt` must be registered before.
 */
export async function createAuth(app: FastifyInstance, options: AuthOptions) {
  const { config, database } = options;
  const secrets = createDerivedSecrets(config.secrets);
  const dependencies: AuthDependencies = {
    ...options,
    tokens: createTokens(app.jwt, config.secrets),
    passwords: await createPasswords(config.password, app.log),
    accounts: createAccountRepository(database),
    sessions: createSessionRepository(database, config.tokens),
    emailCodes: createEmailCodeRepository(secrets, config.email),
    passwordResets: createPasswordResetRepository(secrets, config.email),
    mailSends: createMailSendRepository(config.email),
    loginFailures: createLoginFailureRepository(database, config.secrets[0]),
  };

  const authenticator: Authenticator = {
    verifyAccessToken: (token) => dependencies.tokens.verify('access', token),
    findUser: dependencies.sessions.findUser,
  };

  async function routes(
    scope: FastifyInstance,
    { idempotency }: { idempotency: Idempotency },
  ): Promise<void> {
    for (const schema of authSchemas) scope.addSchema(schema);
    await scope.register(accountRoutes, { dependencies, idempotency });
    await scope.register(sessionRoutes, { dependencies });
    await scope.register(emailVerificationRoutes, { dependencies });
    await scope.register(recoveryRoutes, { dependencies });
  }

  return {
    authenticator,
    mails: authMails(dependencies),
    routes,
    findLiveSessions: dependencies.sessions.findLive,
  };
}
