import { createHash, generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import type { Test } from 'tap';
import { serve } from './serve.ts';

type Kind = 'openid' | 'kakao' | 'naver' | 'apple';

/** A user of a provider. */
export interface ProviderAccount {
  id: string;
  email?: string;
  /** By default true. */
  isEmailProved?: boolean;
  name?: string;
}

/** What a provider does wrong from now on. */
export interface Faults {
  claims?: Record<string, unknown>;
  sign?: 'none' | 'secret' | 'foreign key';
  /** Answers by path in place of the right ones. */
  responses?: Record<string, (response: ServerResponse) => void>;
}

interface Grant {
  user: ProviderAccount;
  parameters: URLSearchParams;
}

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
/** Of all providers. The first one makes them before it answers, because that takes long. */
let keys: Record<'own' | 'foreign', ReturnType<typeof newKey>> | undefined;
const appleKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });

export type IdentityProvider = Awaited<ReturnType<typeof createIdentityProvider>>;

/**
 * A fake provider that answers as the real one, and checks what it gets: the client, the redirect URI, PKCE, and that a code is
 * used once.
 */
export async function createIdentityProvider(t: Test, kind: Kind, id: string = kind) {
  keys ??= { own: newKey(), foreign: newKey() };
  const { own, foreign } = keys;
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'key-1', alg: 'RS256', use: 'sig' };
  const codes = new Map<string, Grant>();
  const refreshTokens = new Map<string, string>();
  const accessTokens = new Map<string, ProviderAccount>();
  const clientId = `client of ${id}`;
  const clientSecret = `secret of ${id}`;
  let counter = 0;

  const url = await serve(t, async (request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const body = new URLSearchParams(await text(request));
    provider.requests.push({ path, body });
    const wrong = provider.faults.responses?.[path];
    if (wrong) return wrong(response);
    const { status = 200, ...answer } = await respond(path, body, request);
    response.writeHead(status, { 'content-type': 'application/json;charset=UTF-8' });
    response.end('text' in answer ? answer.text : JSON.stringify(answer));
  });

  async function respond(
    path: string,
    body: URLSearchParams,
    { headers }: IncomingMessage,
  ): Promise<Record<string, unknown> & { status?: number }> {
    const bearer = accessTokens.get(headers.authorization?.replace('Bearer ', '') ?? '');
    if (path === '/.well-known/openid-configuration') return { ...metadata, ...provider.metadata };
    if (path === '/jwks') return { keys: [jwk] };
    if (path === tokenPath) return answerToken(readClient(body, headers.authorization));
    if (path === '/auth/revoke')
      return (await isClient(body)) ? { text: '' } : { status: 400, error: 'invalid_client' };
    if (bearer === undefined) return { status: 401, resultcode: '024', message: 'Authentication failed' };
    if (path === '/userinfo') return profileClaims(bearer);
    if (path === '/v2/user/me') return kakaoUser(bearer);
    if (path === '/v1/user/unlink') return { id: Number(bearer.id) };
    if (path === '/v1/nid/me') return naverUser(bearer);
    return { status: 404 };
  }

  /** Adds the client of HTTP Basic (RFC 6749, section 2.3.1), where the provider takes it there only. */
  function readClient(body: URLSearchParams, authorization = ''): URLSearchParams {
    if (!provider.metadata['token_endpoint_auth_methods_supported']) return body;
    const [id = '', secret = ''] = Buffer.from(authorization.replace('Basic ', ''), 'base64')
      .toString()
      .split(':');
    const client = new URLSearchParams(`client_id=${id}&client_secret=${secret}`);
    return new URLSearchParams({ ...Object.fromEntries(body), ...Object.fromEntries(client) });
  }

  async function answerToken(body: URLSearchParams) {
    // Naver answers errors with 200.
    const refuse = (error: string) => ({
      ...(kind === 'naver' ? {} : { status: 400 }),
      error,
      error_description: 'no',
    });
    if (!(await isClient(body))) return refuse('invalid_client');
    const grantType = body.get('grant_type');
    if (grantType === 'delete') {
      return accessTokens.delete(body.get('access_token') ?? '')
        ? { access_token: '', result: 'success' }
        : refuse('invalid_request');
    }
    if (grantType === 'refresh_token') {
      const user = refreshTokens.get(body.get('refresh_token') ?? '');
      return user === undefined ? refuse('invalid_grant') : issueTokens({ id: user });
    }
    const code = body.get('code') ?? '';
    const grant = codes.get(code);
    codes.delete(code);
    if (grant === undefined) return refuse('invalid_grant');
    const { user, parameters } = grant;
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (body.get('redirect_uri') !== parameters.get('redirect_uri')) return refuse('invalid_grant');
    if (challenge !== parameters.get('code_challenge')) return refuse('invalid_grant');
    if (kind === 'naver' && body.get('state') !== parameters.get('state')) return refuse('invalid_request');
    const idToken = kind === 'naver' ? {} : { id_token: await signToken(user, parameters.get('nonce')) };
    return { ...issueTokens(user), ...idToken };
  }

  function issueTokens(user: ProviderAccount) {
    const [access, refresh] = [`access-${++counter}`, `refresh-${counter}`];
    accessTokens.set(access, user);
    refreshTokens.set(refresh, user.id);
    // Of Naver a text.
    const expires_in = kind === 'naver' ? '3600' : 3600;
    return { access_token: access, refresh_token: refresh, token_type: 'bearer', expires_in };
  }

  async function isClient(body: URLSearchParams): Promise<boolean> {
    if (body.get('client_id') !== clientId) return false;
    const secret = body.get('client_secret') ?? '';
    if (kind !== 'apple') return secret === clientSecret;
    const expected = { issuer: 'TEAM', subject: clientId, audience: url, algorithms: ['ES256'] };
    const verified = await jwtVerify(secret, appleKey.publicKey, expected).catch(() => undefined);
    return (
      verified?.protectedHeader.kid === 'KEY' &&
      (verified.payload.exp ?? 0) - (verified.payload.iat ?? 0) <= 15_777_000
    );
  }

  function profileClaims({ id: sub, email, isEmailProved = true, name }: ProviderAccount) {
    // Apple's is a text, and has no name.
    if (kind === 'apple') return { sub, email, email_verified: String(isEmailProved) };
    if (kind === 'kakao') return { sub, email, nickname: name };
    return { sub, email, email_verified: isEmailProved, name };
  }

  function signToken(user: ProviderAccount, nonce: string | null) {
    const now = Math.floor(Date.now() / 1000);
    const claims = { ...(provider.hasProfileElsewhere ? { sub: user.id } : profileClaims(user)) };
    const payload = {
      iss: url,
      aud: clientId,
      iat: now,
      exp: now + 600,
      nonce,
      ...claims,
      ...provider.faults.claims,
    };
    const { sign } = provider.faults;
    if (sign === 'none') return new UnsecuredJWT(payload).encode();
    const token = new SignJWT(payload);
    if (sign === 'secret') return token.setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(clientSecret));
    const { privateKey } = sign === 'foreign key' ? foreign : own;
    return token.setProtectedHeader({ alg: 'RS256', kid: 'key-1' }).sign(privateKey);
  }

  const tokenPath = kind === 'naver' ? '/oauth2.0/token' : '/token';
  const metadata = {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    userinfo_endpoint: `${url}/userinfo`,
    revocation_endpoint: `${url}/auth/revoke`,
    jwks_uri: `${url}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    authorization_response_iss_parameter_supported: kind === 'openid',
  };
  const prefix = `LOGIN_${id.toUpperCase()}`;
  const environments: Record<Kind, Record<string, string>> = {
    openid: { [`${prefix}_ISSUER`]: url },
    kakao: { LOGIN_KAKAO_ISSUER: url, LOGIN_KAKAO_USER_INFO_URL: `${url}/v2/user/me` },
    naver: { LOGIN_NAVER_BASE_URL: url, LOGIN_NAVER_API_URL: url },
    apple: {
      LOGIN_APPLE_ISSUER: url,
      LOGIN_APPLE_TEAM_ID: 'TEAM',
      LOGIN_APPLE_KEY_ID: 'KEY',
      LOGIN_APPLE_PRIVATE_KEY: String(appleKey.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    },
  };

  const provider = {
    id,
    url,
    faults: {} as Faults,
    /** Whether only the user information has the profile. */
    hasProfileElsewhere: false,
    /** Besides the usual one of its discovery. */
    metadata: {} as Record<string, unknown>,
    requests: [] as { path: string; body: URLSearchParams }[],
    /** Of an app that uses it; `LOGIN_PROVIDERS` names all of them. */
    environment: {
      [`${prefix}_CLIENT_ID`]: clientId,
      [`${prefix}_CLIENT_SECRET`]: clientSecret,
      ...environments[kind],
    },

    /** A user logs in at the authorization URL. @returns what the provider sends to the callback */
    logIn(authorizationUrl: string, user: ProviderAccount): Record<string, string> {
      const { searchParams: parameters } = new URL(authorizationUrl);
      const code = `code-${id}-${++counter}`;
      codes.set(code, { user, parameters });
      const issuer = kind === 'openid' ? { iss: url } : {};
      return { code, state: parameters.get('state') ?? '', ...issuer };
    },
  };
  return provider;
}

function kakaoUser({ id, email, isEmailProved = true, name }: ProviderAccount) {
  return {
    id: Number(id),
    connected_at: '2026-01-31T09:30:00Z',
    kakao_account: {
      profile_nickname_needs_agreement: false,
      profile: { nickname: name, is_default_nickname: false },
      has_email: true,
      email_needs_agreement: false,
      is_email_valid: isEmailProved,
      is_email_verified: isEmailProved,
      email,
    },
  };
}

function naverUser({ id, email, name }: ProviderAccount) {
  return { resultcode: '00', message: 'success', response: { id, email, name, nickname: 'n***' } };
}
