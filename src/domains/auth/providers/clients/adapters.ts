import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { createSigner } from 'fast-jwt';
import { ApiError } from '../../../../http/errors.ts';
import type { Config, LoginProviderSettings } from '../../../../infrastructure/config/config.ts';
import type { AuthContext } from '../../context.ts';
import { authErrors } from '../../errors.ts';
import { type Sealer, secretsEqual } from '../../secrets.ts';
import { parseAnswer } from './calls.ts';
import { claimsOf, createOpenIdProvider, type ProviderClient, textOf } from './openid-connect.ts';

/** The configured providers, in their order; with the page of the one for development, where that is among them. */
export function createLoginProviders({ config, sealer }: Pick<AuthContext, 'config' | 'sealer'>) {
  let developmentLogin: ReturnType<typeof createDevelopmentProvider>['page'] | undefined;
  const providers = config.loginProviders.map((settings) => {
    if (settings.kind === 'kakao') return createKakao(settings);
    if (settings.kind === 'naver') return createNaver(settings);
    if (settings.kind === 'apple') return createApple(settings);
    if (settings.kind === 'openid') return createOpenIdProvider(settings);
    const { provider, page } = createDevelopmentProvider(settings, config, sealer);
    developmentLogin = page;
    return provider;
  });
  return { providers, developmentLogin };
}

type SettingsOf<Kind> = Extract<LoginProviderSettings, { kind: Kind }>;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const KakaoUser = Type.Object({
  id: Type.Integer(),
  kakao_account: Type.Optional(
    Type.Object({
      email: Type.Optional(Type.String()),
      is_email_valid: Type.Optional(Type.Boolean()),
      is_email_verified: Type.Optional(Type.Boolean()),
      profile: Type.Optional(Type.Object({ nickname: Type.Optional(Type.String()) })),
    }),
  ),
});

/** An error of Kakao: the user is not connected with the app. */
const KakaoNotLinked = Type.Object({ code: Type.Literal(-101) });

/** Only its user information says if an address is verified (https://developers.kakao.com/docs/latest/en/kakaologin/rest-api). */
function createKakao(settings: SettingsOf<'kakao'>): ProviderClient {
  const { userInfoUrl } = settings;
  return createOpenIdProvider(settings, {
    async readUser({ fetch, tokens }) {
      const { claims, ...identity } = claimsOf(tokens);
      const response = await fetch(userInfoUrl, { headers: bearer(tokens.access_token) });
      const user: unknown = await response.json();
      if (!response.ok || !Value.Check(KakaoUser, user))
        throw new Error(`user information: status ${response.status}`);
      if (String(user.id) !== claims.sub) throw new Error('the user information is of another user');
      const { email, is_email_valid, is_email_verified, profile } = user.kakao_account ?? {};
      return {
        ...identity,
        email,
        isEmailProved: is_email_valid === true && is_email_verified === true,
        name: profile?.nickname ?? textOf(claims['nickname']),
      };
    },
    async revoke({ openid, config, fetch }, refreshToken) {
      const { access_token } = await openid.refreshTokenGrant(config, refreshToken);
      const response = await fetch(new URL('/v1/user/unlink', userInfoUrl).href, {
        method: 'POST',
        headers: bearer(access_token),
      });
      const isUnlinked = response.ok || Value.Check(KakaoNotLinked, await response.json());
      if (!isUnlinked) throw new Error(`unlink: status ${response.status}`);
    },
  });
}

const NaverUser = Type.Object({
  response: Type.Object({
    id: Type.String({ minLength: 1 }),
    email: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    nickname: Type.Optional(Type.String()),
  }),
});

const NaverDeletion = Type.Object({ result: Type.Literal('success') });

/** OAuth 2.0; the address is one that the user typed, and proves nothing (https://developers.naver.com/docs/login/api/api.md). */
function createNaver(settings: SettingsOf<'naver'>): ProviderClient {
  const { issuer, apiUrl, clientId, clientSecret } = settings;
  const tokenEndpoint = `${issuer}/oauth2.0/token`;
  return createOpenIdProvider(settings, {
    metadata: {
      issuer,
      authorization_endpoint: `${issuer}/oauth2.0/authorize`,
      token_endpoint: tokenEndpoint,
    },
    tokenParameters: ({ state }) => ({ state }),
    async readUser({ fetch, tokens }) {
      const response = await fetch(`${apiUrl}/v1/nid/me`, { headers: bearer(tokens.access_token) });
      const user: unknown = await response.json();
      if (!response.ok || !Value.Check(NaverUser, user)) throw new Error(`user: status ${response.status}`);
      const { id: subject, email, name, nickname } = user.response;
      return { issuer, subject, email, isEmailProved: false, name: name ?? nickname };
    },
    async revoke({ openid, config, fetch }, refreshToken) {
      const { access_token } = await openid.refreshTokenGrant(config, refreshToken);
      const response = await fetch(tokenEndpoint, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'delete',
          client_id: clientId,
          client_secret: clientSecret,
          access_token,
          service_provider: 'NAVER',
        }),
      });
      const answer: unknown = await response.json();
      if (!Value.Check(NaverDeletion, answer)) throw new Error(`delete: status ${response.status}`);
    },
  });
}

/** Divides a code of Apple from the name beside it. No code of Apple has it. */
const nameSeparator = '~';

const AppleUser = Type.Object({
  name: Type.Object({ firstName: Type.Optional(Type.String()), lastName: Type.Optional(Type.String()) }),
});

/** The name in the field `user` of Apple's form. */
function appleName(user: unknown): string {
  if (typeof user !== 'string') return '';
  try {
    const { firstName = '', lastName = '' } = Value.Parse(AppleUser, parseAnswer(user)).name;
    const isKorean = /\p{Script=Hangul}/u.test(lastName);
    return (isKorean ? `${lastName}${firstName}` : `${firstName} ${lastName}`).trim().slice(0, 100);
  } catch {
    return '';
  }
}

/**
 * OpenID Connect whose callback is a form, and whose client secret is a JWT that expires
 * (https://developer.apple.com/documentation/signinwithapplerestapi). The form of the first login, and no token, has the name of the
 * user: it goes on to the callback page as a part of the code.
 */
function createApple(settings: SettingsOf<'apple'>): ProviderClient {
  const client = createOpenIdProvider(settings, {
    // Apple demands it with any scope but `openid`.
    parameters: { response_mode: 'form_post' },
    clientSecret: () => appleClientSecret(settings),
    readUser({ tokens }) {
      const { claims, ...identity } = claimsOf(tokens);
      const isEmailProved = claims['email_verified'] === true || claims['email_verified'] === 'true';
      return { ...identity, email: textOf(claims['email']), isEmailProved, name: undefined };
    },
    revoke: ({ openid, config }, refreshToken) =>
      openid.tokenRevocation(config, refreshToken, { token_type_hint: 'refresh_token' }),
  });
  return {
    ...client,
    callbackCode(code, form) {
      const name = appleName(form.get('user'));
      return name === '' ? code : `${code}${nameSeparator}${Buffer.from(name).toString('base64url')}`;
    },
    async readUser(attempt, codeWithName) {
      const [code = '', name] = codeWithName.split(nameSeparator);
      const user = await client.readUser(attempt, code);
      return { ...user, name: name && Buffer.from(name, 'base64url').toString() };
    },
  };
}

/** Milliseconds; one is made for each login. */
const secretLifetime = 300_000;

function appleClientSecret(settings: SettingsOf<'apple'>): string {
  const { teamId: iss, clientId: sub, issuer: aud, keyId: kid, privateKey: key } = settings;
  return createSigner({ algorithm: 'ES256', key, kid, iss, sub, aud, expiresIn: secretLifetime })({});
}

/** Milliseconds; of a code of the development login. */
const codeLifetime = 60_000;
const codeContext = 'code of a development login';

type DevelopmentUser = { subject: string; email?: string; isEmailProved: boolean; name?: string };
/** What is in a code. Only this service can seal one. */
type Code = { nonce: string; expiresAt: number; user: DevelopmentUser };

/** A provider that needs no account anywhere: a page of this service, on which one types who one is. Never in production. */
function createDevelopmentProvider(settings: LoginProviderSettings, config: Config, sealer: Sealer) {
  const { id, name } = settings;
  const { publicUrl, frontendUrl } = config;
  const issuer = `${publicUrl}/dev/login/`;
  const provider: ProviderClient = {
    id,
    name,
    authorizationUrl: async ({ state, nonce }) =>
      new URL(`${issuer}?${new URLSearchParams({ state, nonce })}`),
    async readUser({ nonce }, sealed) {
      const opened = sealer.unseal(sealed, codeContext);
      const code: Code | undefined = opened && JSON.parse(opened);
      if (!code || code.expiresAt < Date.now() || !secretsEqual(nonce, code.nonce)) {
        throw new ApiError(authErrors.providerRefused);
      }
      const { email, name, ...user } = code.user;
      return { issuer, ...user, email, name };
    },
  };
  return {
    provider,
    page: {
      callbackUrl: `${publicUrl}/auth/providers/${id}/callback/`,
      /** Where the browser goes on after the login or its cancellation. */
      frontendOrigin: new URL(frontendUrl).origin,
      issueCode: (nonce: string, user: DevelopmentUser) =>
        sealer.seal(JSON.stringify({ nonce, expiresAt: Date.now() + codeLifetime, user }), codeContext),
    },
  };
}
