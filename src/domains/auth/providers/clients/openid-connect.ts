import type * as oidc from 'openid-client';
import type { LocalizedText } from '../../../../http/language.ts';
import type { LoginProviderSettings } from '../../../../infrastructure/config/config.ts';
import { type BoundedFetch, createCalls, describe, unavailable } from './calls.ts';

/** What only the flow of one login has. */
export type LoginAttempt = { state: string; nonce: string; codeVerifier: string; redirectUri: string };

/** Whom a provider knows. The issuer and the subject together name one person, for ever. */
export interface ProviderUser {
  issuer: string;
  subject: string;
  email: string | undefined;
  /** Whether the provider has verified that the user has the address. */
  isEmailProved: boolean;
  name: string | undefined;
  /** To revoke the access when the account is deleted. */
  refreshToken?: string | undefined;
}

export interface ProviderClient {
  id: string;
  name: LocalizedText;
  authorizationUrl(attempt: LoginAttempt): Promise<URL>;
  readUser(attempt: LoginAttempt, code: string): Promise<ProviderUser>;
  /** What the callback page gets as the code, where the provider sends more beside it that is needed later. */
  callbackCode?(code: string, form: Map<string, unknown>): string;
  revoke?(refreshToken: string): Promise<void>;
}

type ClientSettings = Exclude<LoginProviderSettings, { kind: 'development' }>;
type Connection = { openid: typeof oidc; config: oidc.Configuration; fetch: BoundedFetch };

/** Milliseconds for which the discovery document is used. */
const metadataLifetime = 3_600_000;

/** Connects to a provider by bounded calls. Discovery and keys are cached; unknown keys are read again at most once a minute. */
function createConnection(settings: ClientSettings, options: Pick<Adapter, 'metadata' | 'clientSecret'>) {
  const { id, clientId, clientSecret } = settings;
  const issuer = new URL(settings.issuer);
  const isInsecure = issuer.protocol === 'http:';
  const call = createCalls(id);
  let discovered: { time: number; metadata: Promise<oidc.ServerMetadata> } | undefined;
  let keys: oidc.ExportedJWKSCache | undefined;

  async function discover(openid: typeof oidc, fetch: BoundedFetch): Promise<oidc.ServerMetadata> {
    const execute = isInsecure ? [openid.allowInsecureRequests] : [];
    const options = { execute, [openid.customFetch]: fetch };
    const found = await openid
      .discovery(issuer, clientId, {}, openid.None(), options)
      .catch((error: unknown) => {
        discovered = undefined;
        throw unavailable(`${id}: discovery: ${describe(error)}`);
      });
    return found.serverMetadata();
  }

  /** Concurrent logins wait for one discovery. */
  function metadataOf(openid: typeof oidc, fetch: BoundedFetch) {
    if (options.metadata) return options.metadata;
    if (discovered === undefined || Date.now() - discovered.time > metadataLifetime) {
      discovered = { time: Date.now(), metadata: discover(openid, fetch) };
    }
    return discovered.metadata;
  }

  return <Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> =>
    call(async (fetch) => {
      // Not needed at the start, which it would slow down.
      const openid = await import('openid-client');
      const metadata = await metadataOf(openid, fetch);
      const secret = options.clientSecret?.() ?? clientSecret;
      // Kakao, Naver and Apple take the secret in the body only, others in a header only.
      const { token_endpoint_auth_methods_supported: places = ['client_secret_post'] } = metadata;
      const authenticate = places.includes('client_secret_post')
        ? openid.ClientSecretPost(secret)
        : openid.ClientSecretBasic(secret);
      const config = new openid.Configuration(metadata, clientId, secret, authenticate);
      config[openid.customFetch] = fetch;
      if (isInsecure) openid.allowInsecureRequests(config);
      // Without it the signature of an ID token is not verified.
      openid.enableNonRepudiationChecks(config);
      if (keys !== undefined) openid.setJwksCache(config, keys);
      try {
        return await work({ openid, config, fetch });
      } finally {
        keys = openid.getJwksCache(config) ?? keys;
      }
    });
}

type UserFacts = Connection & { tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers };

/** In what a provider differs from OpenID Connect. */
interface Adapter {
  /** Of a provider of OAuth 2.0 only, which has neither discovery nor ID tokens. */
  metadata?: oidc.ServerMetadata;
  parameters?: Record<string, string>;
  tokenParameters?(attempt: LoginAttempt): Record<string, string>;
  clientSecret?(): string;
  readUser?(facts: UserFacts): Promise<ProviderUser> | ProviderUser;
  revoke?(connection: Connection, refreshToken: string): Promise<void>;
}

/** A provider of OpenID Connect (Core 1.0, section 3.1), with PKCE. */
export function createOpenIdProvider(settings: ClientSettings, adapter: Adapter = {}): ProviderClient {
  const { id, name, scope } = settings;
  const { metadata, parameters, tokenParameters, readUser = standardUser, revoke } = adapter;
  const connect = createConnection(settings, adapter);
  return {
    id,
    name,
    authorizationUrl: (attempt) =>
      connect(async ({ openid, config }) =>
        openid.buildAuthorizationUrl(config, {
          redirect_uri: attempt.redirectUri,
          state: attempt.state,
          nonce: attempt.nonce,
          code_challenge: await openid.calculatePKCECodeChallenge(attempt.codeVerifier),
          code_challenge_method: 'S256',
          ...(scope !== '' && { scope }),
          ...parameters,
        }),
      ),
    readUser: (attempt, code) =>
      connect(async (connection) => {
        const { openid, config } = connection;
        const { issuer } = config.serverMetadata();
        // Each provider has a redirect URI of its own, so the issuer (RFC 9207) says nothing more.
        const sent = new URLSearchParams({ code, state: attempt.state, iss: issuer });
        const url = new URL(`${attempt.redirectUri}?${sent}`);
        const checks = {
          expectedState: attempt.state,
          pkceCodeVerifier: attempt.codeVerifier,
          ...(!metadata && { expectedNonce: attempt.nonce, idTokenExpected: true }),
        };
        const tokens = await openid.authorizationCodeGrant(config, url, checks, tokenParameters?.(attempt));
        const user = await readUser({ ...connection, tokens });
        return { ...user, refreshToken: revoke && tokens.refresh_token };
      }),
    ...(revoke && { revoke: (token: string) => connect((connection) => revoke(connection, token)) }),
  };
}

/** The claims of the ID token, with whom it names. */
export function claimsOf(tokens: oidc.TokenEndpointResponseHelpers) {
  const claims = tokens.claims();
  if (claims === undefined) throw new Error('no ID token');
  return { claims, issuer: claims.iss, subject: claims.sub };
}

/** By the standard claims, of the ID token or, where it has no address, of the user information. */
async function standardUser({ openid, config, tokens }: UserFacts): Promise<ProviderUser> {
  const { claims, ...user } = claimsOf(tokens);
  const isElsewhere =
    textOf(claims['email']) === undefined && config.serverMetadata().userinfo_endpoint !== undefined;
  const profile = isElsewhere ? await openid.fetchUserInfo(config, tokens.access_token, claims.sub) : claims;
  return {
    ...user,
    email: textOf(profile['email']),
    isEmailProved: profile['email_verified'] === true,
    name: textOf(profile['name']),
  };
}

export const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
