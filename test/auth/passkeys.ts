import { createUser, type TestApp, type TestResponse } from '../support/app.ts';
import type { Json } from '../support/json.ts';
import { createAuthenticator, type Deviations, type TestAuthenticator } from '../support/webauthn.ts';

/** Of the frontend in the tests. */
export const origin = 'https://app.example.com';

interface Owner {
  id: number;
  token: string;
}

/** The operations of `/auth/passkeys/`. */
export function passkeysOf({ app, config, pool, call }: TestApp) {
  const send = (method: string, path: string, body?: unknown, token?: string) =>
    call(method, `/auth/passkeys/${path}`, { body, token });
  const startRegistration = (token: string) => send('POST', 'register/start/', {}, token);
  const finishRegistration = (token: string, body: unknown) => send('POST', 'register/finish/', body, token);
  const startLogin = () => send('POST', 'login/start/', {});
  const finishLogin = (body: unknown) => send('POST', 'login/finish/', body);

  /** Registers the passkey of an authenticator. */
  async function register(
    { token }: Owner,
    authenticator: TestAuthenticator = createAuthenticator(origin),
    deviations: Deviations = {},
    fields: Record<string, unknown> = {},
  ): Promise<TestResponse> {
    const { options, flow_token } = (await startRegistration(token)).body.data;
    const credential = authenticator.create(options, deviations);
    return finishRegistration(token, { flow_token, credential, ...fields });
  }

  /** Logs in with the passkey of an authenticator. */
  async function logIn(authenticator: TestAuthenticator, deviations: Deviations = {}): Promise<TestResponse> {
    const { options, flow_token } = (await startLogin()).body.data;
    return finishLogin({ flow_token, credential: authenticator.get(options, deviations) });
  }

  return {
    startRegistration,
    finishRegistration,
    register,
    startLogin,
    finishLogin,
    logIn,
    list: (token: string, query = '') => send('GET', query, undefined, token),
    rename: (token: string, id: number, name: unknown) => send('PATCH', `${id}/`, { name }, token),
    remove: (token: string, id: number) => send('DELETE', `${id}/`, undefined, token),

    /** A user with a passkey. */
    async createOwner(options: Parameters<typeof createAuthenticator>[1] = {}) {
      const user = await createUser({ app, config, pool });
      const authenticator = createAuthenticator(origin, options);
      const registered = await register(user, authenticator);
      if (registered.status !== 201) throw new Error(registered.text);
      return { ...user, authenticator, passkey: registered.body.data as Json };
    },

    removePassword: ({ id }: Owner) =>
      pool.query('UPDATE users SET password_hash = NULL WHERE id = $1', [id]),
  };
}
