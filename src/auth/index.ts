import type { FastifyInstance } from 'fastify';
import type { Tx } from '../database/client.ts';
import type { Authenticator } from '../http/authentication.ts';
import { documentDomain } from '../http/document-domain.ts';
import { type AuthOptions, createAuthDependencies } from './dependencies.ts';
import { authMails } from './mails.ts';
import { expiredKnownAddresses } from './repository/accounts.ts';
import { expiredEmailChanges } from './repository/email-changes.ts';
import { expiredEmailCodes } from './repository/email-codes.ts';
import { expiredLoginFailures } from './repository/login-failures.ts';
import { expiredPasswordResets } from './repository/password-resets.ts';
import { expiredSessions } from './repository/sessions.ts';
import { accountRoutes } from './routes/account.ts';
import { emailChangeRoutes } from './routes/email-change.ts';
import { emailVerificationRoutes } from './routes/email-verification.ts';
import { logoutRoutes } from './routes/logout.ts';
import { recoveryRoutes } from './routes/recovery.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { authSchemas } from './schemas.ts';
import { createAbandonedAccounts } from './service/abandoned-accounts.ts';
import { removeAccountById } from './service/account-removal.ts';
import { sessionSchemas } from './session-schemas.ts';

/** Rows of this domain that the clean-up deletes. */
export const expiredAuthRows = [
  expiredSessions,
  ...expiredEmailCodes,
  expiredEmailChanges,
  expiredPasswordResets,
  expiredLoginFailures,
  expiredKnownAddresses,
];

/**
 * Builds the authentication domain: how tokens are checked, the mails it sends, its part of the clean-up, what operators need
 * of it, and its routes under `/auth`.
 */
export function createAuth(options: AuthOptions) {
  const dependencies = createAuthDependencies(options);
  const { tokens, sessions } = dependencies;

  const authenticator: Authenticator = {
    verifyAccessToken: (token) => tokens.verify('access', token),
    findUser: sessions.findUser,
  };

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(documentDomain, { tag: 'auth', schemas: [...authSchemas, ...sessionSchemas] });
    await scope.register(accountRoutes, dependencies);
    await scope.register(sessionRoutes, dependencies);
    await scope.register(logoutRoutes, dependencies);
    await scope.register(emailVerificationRoutes, dependencies);
    await scope.register(emailChangeRoutes, dependencies);
    await scope.register(recoveryRoutes, dependencies);
  }

  return {
    authenticator,
    routes,
    mails: authMails(dependencies),
    findLiveSessions: sessions.findLive,
    administration: {
      listSessions: sessions.list,
      endSessions: sessions.endAll,
      deleteAccount: (tx: Tx, userId: number) => removeAccountById(dependencies, tx, userId),
    },
    deleteAbandonedAccounts: createAbandonedAccounts(dependencies),
  };
}
