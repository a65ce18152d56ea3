import type { JWT } from '@fastify/jwt';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import type { Idempotency } from '../../infrastructure/database/idempotency.ts';
import { createMailSends } from '../../infrastructure/mail/mail-sends.ts';
import type { MailQueue } from '../../infrastructure/mail/queue.ts';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import { createAccountRemoval } from './accounts/removal.ts';
import { createAccountRepository, createPasskeyRepository } from './accounts/repository.ts';
import { createConsentRepository } from './consents/repository.ts';
import { createEmailSecretRepository } from './email/repository.ts';
import { authKinds, createChangeNotices } from './kinds.ts';
import { createPasswords } from './passwords.ts';
import { createIdentityRepository } from './providers/repository.ts';
import { createSecondFactorRepository } from './second-factor/repository.ts';
import { createDerivedSecrets, createSealer } from './secrets.ts';
import { createConfirmation } from './sessions/confirmation.ts';
import { createLoginRepository } from './sessions/login-repository.ts';
import { createFlowRepository, createSessionRepository } from './sessions/repository.ts';
import { createLogin } from './sessions/service.ts';
import { createTokens } from './tokens.ts';

const events = {
  accounts: ['signup', 'account_deleted', 'data_downloaded', 'user_id_requested'],
  logins: ['login', 'login_failed', 'login_delayed', 'login_suspended', 'second_factor_required'],
  sessions: ['refresh_reused', 'logout', 'session_ended', 'confirmed'],
  passwords: ['password_reset_requested', 'password_reset', 'password_changed'],
  emails: ['email_verified', 'email_code_failed', 'email_changed', 'email_change_undone'],
  secondFactors: [
    'second_factor_added',
    'second_factor_failed',
    'second_factor_removed',
    'recovery_codes_replaced',
  ],
  passkeys: ['passkey_added', 'passkey_removed', 'passkey_refused'],
  identities: ['identity_added', 'identity_removed'],
} as const;

/** Security events that operators search the log for. */
export const securityEvents = Object.values(events).flat();

declare module '../../http/request-context.ts' {
  interface SecurityEvents extends Record<(typeof securityEvents)[number], true> {}
}

export interface AuthOptions {
  config: Config;
  database: Database;
  idempotency: Idempotency;
  mailQueue: MailQueue;
  /** `@fastify/jwt` with the options of `jwtOptions`. */
  jwt: JWT;
  logger: FastifyBaseLogger;
  metrics: Metrics;
  /** Withdraws pending requests of a store, ends accepted ones, and notifies the other sides. */
  closeRequestsOfStore(tx: Tx, store: { id: number; ownerId: number }): Promise<void>;
}

export type AuthBase = ReturnType<typeof createBase>;

/** What the domain stores, and what it stores and issues it with. */
function createBase(options: AuthOptions) {
  const { config, database, mailQueue } = options;
  const secrets = createDerivedSecrets(config.secrets);
  const sealer = createSealer(config.secrets);
  return {
    ...options,
    sealer,
    tokens: createTokens(options.jwt, config),
    passwords: createPasswords(options),
    accounts: createAccountRepository(config.email),
    sessions: createSessionRepository(database, config.tokens),
    logins: createLoginRepository(database, config),
    flows: createFlowRepository(secrets),
    identities: createIdentityRepository(database, sealer),
    passkeys: createPasskeyRepository(database),
    secondFactors: createSecondFactorRepository(database, sealer),
    consents: createConsentRepository(database, mailQueue),
    ...createEmailSecretRepository(database, secrets, config.email),
    mailSends: createMailSends(config.email, authKinds),
    sendNotice: createChangeNotices(mailQueue),
  };
}

export type AuthContext = ReturnType<typeof createAuthContext>;
/** What the features of this domain share. */
export function createAuthContext(options: AuthOptions) {
  const base = createBase(options);
  const login = createLogin(base);
  const confirmation = createConfirmation(base, login);
  return { ...base, login, confirmation, removal: createAccountRemoval(base) };
}
