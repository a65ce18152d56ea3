import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { ApiError } from '../../../../http/errors.ts';
import type { Config, LoginProviderSettings } from '../../../../infrastructure/config/config.ts';
import { authErrors } from '../../errors.ts';
import { type Sealer, secretsEqual } from '../../secrets.ts';
import type { ProviderClient } from './openid-connect.ts';

/** Milliseconds. */
const codeLifetime = 60_000;
const context = 'code of a development login';

const DevelopmentUser = Type.Object({
  subject: Type.String(),
  email: Type.Optional(Type.String()),
  isEmailProved: Type.Boolean(),
  name: Type.Optional(Type.String()),
});
const Code = Type.Object({ nonce: Type.String(), expiresAt: Type.Number(), user: DevelopmentUser });

export type DevelopmentLogin = ReturnType<typeof createDevelopmentProvider>['page'];

/** A provider that needs no account anywhere: a page of this service, on which one types who one is. Never in production. */
export function createDevelopmentProvider(settings: LoginProviderSettings, config: Config, sealer: Sealer) {
  const { id, name } = settings;
  const { publicUrl, frontendUrl } = config;
  const issuer = `${publicUrl}/dev/login/`;
  const provider: ProviderClient = {
    id,
    name,
    authorizationUrl: async ({ state, nonce }) =>
      new URL(`${issuer}?${new URLSearchParams({ state, nonce })}`),
    async readUser({ nonce }, sealed) {
      const opened = sealer.unseal(sealed, context);
      const code: unknown = opened === undefined ? undefined : JSON.parse(opened);
      if (!Value.Check(Code, code) || code.expiresAt < Date.now() || !secretsEqual(nonce, code.nonce)) {
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
      issueCode: (nonce: string, user: Static<typeof DevelopmentUser>) =>
        sealer.seal(JSON.stringify({ nonce, expiresAt: Date.now() + codeLifetime, user }), context),
    },
  };
}
