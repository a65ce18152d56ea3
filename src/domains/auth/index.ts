import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../../http/authentication.ts';
import type { ExpiredRows } from '../../infrastructure/database/clean-up.ts';
import { sql } from '../../infrastructure/database/sql.ts';
import { accountRoutes } from './accounts/routes.ts';
import { createAccounts } from './accounts/service.ts';
import { consentRoutes } from './consents/routes.ts';
import { createConsents } from './consents/service.ts';
import { type AuthOptions, createAuthContext } from './context.ts';
import { emailRoutes } from './email/routes.ts';
import { createEmailService } from './email/service.ts';
import { authMails } from './mails.ts';
import { passkeyRoutes } from './passkeys/routes.ts';
import { createLoginProviders } from './providers/clients/adapters.ts';
import { revokeIdentityTask } from './providers/repository.ts';
import { providerRoutes } from './providers/routes.ts';
import { createProviderLogin } from './providers/service.ts';
import { secondFactorRoutes } from './second-factor/routes.ts';
import { createSecondFactor } from './second-factor/service.ts';
import { knownAddressDays } from './sessions/login-repository.ts';
import { publicKeyRoutes } from './sessions/public-keys.ts';
import { createRefreshCookie } from './sessions/refresh-cookie.ts';
import { sessionRoutes } from './sessions/routes.ts';

export { userColumns } from './accounts/repository.ts';
export { securityEvents } from './context.ts';
export { undoDays } from './email/repository.ts';
export { confirmationErrors } from './errors.ts';
export { authKinds } from './kinds.ts';
export { toSession, toUser, User } from './schemas.ts';
export { publicKeysMaxAge } from './sessions/public-keys.ts';
export { jwtOptions } from './tokens.ts';

const condition = sql`expires_at < now()`;
const indexed = ['login_flows', 'email_codes', 'email_proofs', 'password_resets', 'email_changes'];

export const expiredAuthRows: ExpiredRows[] = [
  // Without an index of `expires_at`, which each refresh changes.
  { table: 'sessions', condition, isScanned: true },
  ...indexed.map((table) => ({ table, condition })),
  {
    table: 'login_failures',
    // Delay and window together are over within half an hour.
    condition: sql`updated_at < now() - interval '1 hour' AND (locked_until IS NULL OR locked_until < now())`,
    isScanned: true,
  },
  {
    table: 'known_addresses',
    condition: sql`last_used_at < now() - make_interval(days => ${knownAddressDays})`,
    isScanned: true,
  },
];

export type AccountAdministration = ReturnType<typeof createAuth>['administration'];

/** Builds the authentication domain: its features, what other domains and operators need of them, and its routes under `/auth`. */
export function createAuth(options: AuthOptions) {
  const auth = createAuthContext(options);
  const { config, sessions, tokens, passwords, confirmation, removal } = auth;
  const consents = createConsents(auth);
  const emails = createEmailService(auth);
  const accounts = createAccounts(auth, consents, emails);
  const secondFactor = createSecondFactor(auth);
  const { providers, developmentLogin } = createLoginProviders(auth);
  const providerLogin = createProviderLogin(auth, accounts, providers);
  const refreshCookie = createRefreshCookie(config);

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(refreshCookie.plugin);
    await scope.register(accountRoutes, accounts);
    await scope.register(emailRoutes, emails);
    await scope.register(consentRoutes, consents);
    await scope.register(sessionRoutes, { ...auth, refreshCookie });
    await scope.register(secondFactorRoutes, secondFactor);
    await scope.register(passkeyRoutes, auth);
    await scope.register(providerRoutes, providerLogin);
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
    tasks: { [revokeIdentityTask]: providerLogin.revoke },
    publicKeys: (scope: FastifyInstance) => publicKeyRoutes(scope, config),
    mails: authMails(auth),
    requireConfirmation: confirmation.require,
    findLiveSessions: sessions.findLive,
    administration: {
      listSessions: sessions.list,
      endSessions: sessions.endAll,
      deleteAccount: removal.removeById,
      removeSecondFactor: secondFactor.removeByOperator,
    },
    askAboutMarketing: auth.consents.askAgain,
    sealAgain: () => ({
      second_factors: auth.secondFactors.sealAgain(),
      identities: auth.identities.sealAgain(),
    }),
    deleteAbandonedAccounts:
      config.email.unverifiedAccountTtl === 0 ? async function* () {} : removal.removeAbandoned,
  };
}
