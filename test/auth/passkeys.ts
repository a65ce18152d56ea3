import { createUser, type TestApp, type TestResponse } from '../support/app.ts';
import type { Json } from '../support/json.ts';
import { createAuthenticator, type Deviations, type TestAuthenticator } from '../support/webauthn.ts';

/** Of the frontend in the tests. */
export const origin = 'https://app.example.com';

/** The operations of `/auth/passkeys/`. */
export function passkeysOf(app: TestApp) {
  const send = (method: string, path: string, body?: unknown, token?: string) =>
    app.call(method, `/auth/passkeys/${path}`, { body, token });
  const startRegistration = (token: string) => send('POST', 'register/start/', {}, token);
  const finishRegistration = (token: string, body: unknown) => send('POST', 'register/finish/', body, token);
  const startLogin = () => send('POST', 'login/start/', {});
  const finishLogin = (body: unknown) => send('POST', 'login/finish/', body);

  /** Begins a registration. @returns what finishes it */
  async function beginRegistration(
    token: string,
    authenticator: TestAuthenticator = createAuthenticator(origin),
    deviations: Deviations = {},
  ) {
    const { options, flow_token } = (await startRegistration(token)).body.data;
    return { flow_token: String(flow_token), credential: authenticator.create(options, deviations) };
  }

  /** Begins a login. @returns what finishes it */
  async function beginLogin(authenticator: TestAuthenticator, deviations: Deviations = {}) {
    const { options, flow_token } = (await startLogin()).body.data;
    return { flow_token: String(flow_token), credential: authenticator.get(options, deviations) };
  }

  /** Registers the passkey of an authenticator. */
  async function register(
    { token }: { token: string },
    authenticator?: TestAuthenticator,
    deviations?: Deviations,
    fields: Record<string, unknown> = {},
  ): Promise<TestResponse> {
    const begun = await beginRegistration(token, authenticator, deviations);
    return finishRegistration(token, { ...begun, ...fields });
  }

  /** Logs in with the passkey of an authenticator. */
  const logIn = async (authenticator: TestAuthenticator, deviations?: Deviations) =>
    finishLogin(await beginLogin(authenticator, deviations));

  return {
    startRegistration,
    beginRegistration,
    finishRegistration,
    register,
    startLogin,
    beginLogin,
    finishLogin,
    logIn,
    list: (token: string, query = '') => send('GET', query, undefined, token),
    rename: (token: string, id: number, name: unknown) => send('PATCH', `${id}/`, { name }, token),
    remove: (token: string, id: number) => send('DELETE', `${id}/`, undefined, token),

    /** A user with a passkey. */
    async createOwner(options: Parameters<typeof createAuthenticator>[1] = {}) {
      const user = await createUser(app);
      const authenticator = createAuthenticator(origin, options);
      const registered = await register(user, authenticator);
      if (registered.status !== 201) throw new Error(registered.text);
      return { ...user, authenticator, passkey: registered.body.data as Json };
    },
  };
}
