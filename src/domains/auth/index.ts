import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../../http/authentication.ts';
import { openApiScope } from '../../http/plugins/envelope.ts';
import { type AuthOptions, createDependencies } from './dependencies.ts';
import { authMails } from './mails.ts';
import { expiredKnownAddresses } from './repository/accounts.ts';
import { expiredCodesAndLinks } from './repository/codes-and-links.ts';
import { expiredLoginFailures } from './repository/login-failures.ts';
import { expiredSessions } from './repository/sessions.ts';
import { accountRoutes } from './routes/account.ts';
import { emailVerificationRoutes, recoveryRoutes } from './routes/codes-and-links.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { createAccountService } from './service/account.ts';
import { type AccountDeletionSteps, createAccountRemoval } from './service/account-removal.ts';
import { createEmailVerification, createRecovery } from './service/codes-and-links.ts';
import { createEmailChange } from './service/email-change.ts';
import { createLogin } from './service/login.ts';

export { toSession, toUser } from './presenters.ts';
export { userColumns } from './repository/accounts.ts';
export { undoDays } from './repository/codes-and-links.ts';
export { User, UserRole } from './schemas.ts';
export { jwtOptions } from './tokens.ts';

export const expiredAuthRows = [
  expiredSessions,
  ...expiredCodesAndLinks,
  expiredLoginFailures,
  expiredKnownAddresses,
];

/** Security events that operators search the log for. */
export const securityEvents = [
  'signup',
  'login',
  'login_failed',
  'login_delayed',
  'login_suspended',
  'refresh_reused',
  'logout',
  'session_ended',
  'password_reset_requested',
  'password_reset',
  'password_changed',
  'email_changed',
  'email_change_undone',
  'email_verified',
  'email_code_failed',
  'user_id_requested',
  'account_deleted',
];

export type AccountAdministration = ReturnType<typeof createAuth>['administration'];

/**
 * Builds the authentication domain: how tokens are checked, the emails it sends, its part of the clean-up, what operators need
 * of it, and its routes under `/auth`.
 */
export function createAuth({
  deletionSteps,
  ...options
}: AuthOptions & { deletionSteps: AccountDeletionSteps }) {
  const dependencies = createDependencies(options);
  const { config, database, sessions, tokens } = dependencies;
  const removal = createAccountRemoval(dependencies, deletionSteps);
  const login = createLogin(dependencies);
  const verification = createEmailVerification(dependencies);
  const recovery = createRecovery(dependencies);
  const account = createAccountService(dependencies, login, verification, removal);
  const emailChange = createEmailChange(dependencies, login, verification, removal);

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(openApiScope, { tag: 'auth' });
    await scope.register(accountRoutes, { account, emailChange });
    await scope.register(sessionRoutes, { database, sessions, login });
    await scope.register(emailVerificationRoutes, { emailVerification: verification });
    await scope.register(recoveryRoutes, { recovery });
  }

  return {
    authenticator: {
      verifyAccessToken: (token) => tokens.verify('access', token),
      findUser: sessions.findUser,
    } satisfies Authenticator,
    routes,
    mails: authMails(dependencies),
    findLiveSessions: sessions.findLive,
    administration: {
      listSessions: sessions.list,
      endSessions: sessions.endAll,
      deleteAccount: removal.removeById,
    },
    deleteAbandonedAccounts:
      config.email.unverifiedAccountTtl === 0 ? async () => 0 : removal.removeAbandoned,
  };
}
