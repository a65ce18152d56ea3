import type { JWT } from '@fastify/jwt';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type Authenticator, requireUser, routesBehind } from '../../http/authentication.ts';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import { type AccountDeletionSteps, createAccountRemoval } from './accounts/removal.ts';
import { accountRoutes, ownAccountRoutes } from './accounts/routes.ts';
import { type AccountOptions, createAccounts } from './accounts/service.ts';
import { emailVerificationRoutes, recoveryRoutes } from './codes/routes.ts';
import { createEmailVerification, createRecovery } from './codes/service.ts';
import { consentRoutes, ownConsentRoutes } from './consents/routes.ts';
import { createConsents } from './consents/service.ts';
import { createAuthRepository } from './context.ts';
import { createEmailChange } from './email-change/service.ts';
import { authMails } from './mails.ts';
import { ownPasskeyRoutes, passkeyRoutes } from './passkeys/routes.ts';
import { createPasskeys } from './passkeys/service.ts';
import { createPasswords } from './passwords.ts';
import { callbackRoutes } from './providers/callback-routes.ts';
import { createLoginProviders } from './providers/clients/adapters.ts';
import { createIdentities } from './providers/identities.ts';
import { revokeIdentityTask } from './providers/repository.ts';
import { identityRoutes, providerRoutes } from './providers/routes.ts';
import { createProviderLogin } from './providers/service.ts';
import { ownSecondFactorRoutes, secondFactorRoutes } from './second-factor/routes.ts';
import { createSecondFactor } from './second-factor/service.ts';
import { createConfirmation } from './sessions/confirmation.ts';
import { publicKeyRoutes } from './sessions/public-keys.ts';
import { createRefreshCookie } from './sessions/refresh-cookie.ts';
import { ownSessionRoutes, sessionRoutes } from './sessions/routes.ts';
import { createLogin } from './sessions/service.ts';
import { createDerivedSecrets, createSealer, createTokens } from './tokens.ts';

export { userColumns } from './accounts/repository.ts';
export { undoDays } from './codes/repository.ts';
export { expiredAuthRows } from './context.ts';
export { confirmationErrors } from './errors.ts';
export { toSession, toUser } from './presenters.ts';
export type { DevelopmentLogin } from './providers/clients/development.ts';
export { User } from './schemas.ts';
export { publicKeysMaxAge } from './sessions/public-keys.ts';
export { jwtOptions } from './tokens.ts';

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
  'second_factor_required',
  'second_factor_failed',
  'second_factor_added',
  'second_factor_removed',
  'recovery_codes_replaced',
  'confirmed',
  'data_downloaded',
  'identity_added',
  'identity_removed',
  'passkey_added',
  'passkey_removed',
  'passkey_refused',
];

interface AuthOptions extends AccountOptions {
  jwt: JWT;
  logger: FastifyBaseLogger;
  metrics: Metrics;
  deletionSteps: AccountDeletionSteps;
}

export type AccountAdministration = ReturnType<typeof createAuth>['administration'];

/**
 * Builds the authentication domain: how tokens are checked, the emails it sends, its part of the clean-up, what operators need
 * of it, and its routes under `/auth`.
 */
export function createAuth(options: AuthOptions) {
  const { config, database, jwt, mailQueue } = options;
  const repository = createAuthRepository(config, database, createDerivedSecrets(config.secrets), mailQueue);
  const { sessions } = repository;
  const tokens = createTokens(jwt, config);
  const passwords = createPasswords(config, options);

  const removal = createAccountRemoval(database, repository, options.logger, options.deletionSteps);
  const login = createLogin(config, database, repository, tokens, passwords);
  const confirmation = createConfirmation(database, mailQueue, repository, login);
  const sealer = createSealer(config.secrets);
  const secondFactor = createSecondFactor(database, mailQueue, repository, sealer, login, confirmation);
  const verification = createEmailVerification(config.email, database, mailQueue, repository);
  const recovery = createRecovery(database, mailQueue, repository, passwords);
  const consents = createConsents(config.consentDocuments, database, repository);
  const account = createAccounts(
    options,
    repository,
    passwords,
    consents,
    login,
    confirmation,
    verification,
    removal,
  );
  const emailChange = createEmailChange(database, mailQueue, repository, confirmation, verification, removal);
  const passkeys = createPasskeys(config, database, repository, login, confirmation);
  const refreshCookie = createRefreshCookie(config);
  const { providers, developmentLogin } = createLoginProviders(config, sealer);
  const identities = createIdentities(database, repository, confirmation, providers, sealer);
  const providerLogin = createProviderLogin(
    options,
    repository,
    login,
    confirmation,
    account,
    identities,
    providers,
  );

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(refreshCookie.plugin);
    await scope.register(accountRoutes, { account, emailChange });
    await scope.register(routesBehind(requireUser, ownAccountRoutes, { account, emailChange }));
    await scope.register(consentRoutes, { consents });
    await scope.register(routesBehind(requireUser, ownConsentRoutes, { consents }));
    await scope.register(sessionRoutes, { sessions, login, refreshCookie });
    await scope.register(routesBehind(requireUser, ownSessionRoutes, { database, sessions }));
    await scope.register(secondFactorRoutes, { secondFactor });
    await scope.register(routesBehind(requireUser, ownSecondFactorRoutes, { secondFactor }));
    await scope.register(emailVerificationRoutes, { emailVerification: verification });
    await scope.register(recoveryRoutes, { recovery });
    await scope.register(passkeyRoutes, { passkeys });
    await scope.register(routesBehind(requireUser, ownPasskeyRoutes, { passkeys }));
    await scope.register(providerRoutes, { providerLogin });
    await scope.register(callbackRoutes, { providers, frontendUrl: config.frontendUrl });
    await scope.register(routesBehind(requireUser, identityRoutes, { identities }));
  }

  return {
    authenticator: {
      verifyAccessToken(token) {
        passwords.yieldToRequests();
        return tokens.verify('access', token);
      },
      findUser: sessions.findUser,
    } satisfies Authenticator,
    routes,
    developmentLogin,
    tasks: { [revokeIdentityTask]: identities.revoke },
    publicKeys: (scope: FastifyInstance) => publicKeyRoutes(scope, config),
    mails: authMails(config, database, repository),
    requireConfirmation: confirmation.require,
    findLiveSessions: sessions.findLive,
    administration: {
      listSessions: sessions.list,
      endSessions: sessions.endAll,
      deleteAccount: removal.removeById,
      removeSecondFactor: secondFactor.removeByOperator,
    },
    askAboutMarketing: repository.consents.askAgain,
    sealSecondFactorsAgain: secondFactor.sealAgain,
    deleteAbandonedAccounts:
      config.email.unverifiedAccountTtl === 0 ? async function* () {} : removal.removeAbandoned,
  };
}
