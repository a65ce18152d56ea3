import t from 'tap';
import { type CallOptions, createTestApp, type TestResponse } from '../../support/app.ts';
import {
  createIdentityProvider,
  type Faults,
  type IdentityProvider,
  type ProviderAccount,
} from '../../support/identity-provider.ts';
import { until } from '../../support/until.ts';

let counter = 0;

/** A user of a provider who has no account yet. Kakao's ids are numbers. */
export function newAccount(fields: Partial<ProviderAccount> = {}) {
  const id = String(1_000_000 + ++counter + process.pid * 1000);
  return { id, email: `p${id}@example.com`, name: '박나무', ...fields };
}

interface Begun {
  authorization_url: string;
  flow_token: string;
}

const createAll = async () => ({
  kakao: await createIdentityProvider(t, 'kakao'),
  naver: await createIdentityProvider(t, 'naver'),
  apple: await createIdentityProvider(t, 'apple'),
  acme: await createIdentityProvider(t, 'openid', 'acme'),
  other: await createIdentityProvider(t, 'openid', 'other'),
});

/**
 * An instance with fake providers, and what clients do. It is closed after the file.
 *
 * @param options.providers of another one
 * @param options.hasWorker whether it has a database of its own, with a worker, which revokes consents
 */
export async function startProviders(
  environment: Record<string, string> = {},
  options: { providers?: Awaited<ReturnType<typeof createAll>>; hasWorker?: boolean } = {},
) {
  const providers = options.providers ?? (await createAll());
  const all = Object.values(providers);
  const ofProviders = {
    LOGIN_PROVIDERS: all.map(({ id }) => id).join(),
    ...Object.assign({}, ...all.map((one) => one.environment)),
  };
  const start = options.hasWorker ? createTestApp : (await createTestApp()).startInstance;
  const app = await start({ ...ofProviders, ...environment }, { serverErrors: true });
  const post = (path: string, body: unknown, options: CallOptions = {}) =>
    app.call('POST', `/auth/${path}/`, { body, ...options });

  async function begin({ id }: IdentityProvider, purpose = 'login', token?: string): Promise<Begun> {
    const started = await post(`providers/${id}/start`, { purpose }, { token });
    if (started.status !== 200) throw new Error(`start failed: ${started.text}`);
    return started.body.data;
  }

  /** The user logs in at the provider, whose callback leads to the page of the client. @returns what that sends to `finish` */
  async function answer(provider: IdentityProvider, begun: Begun, user: ProviderAccount, form: object = {}) {
    const sent = new URLSearchParams({ ...provider.logIn(begun.authorization_url, user), ...form });
    const path = `/auth/providers/${provider.id}/callback/`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const callback =
      provider === providers.apple
        ? await app.call('POST', path, { body: String(sent), headers })
        : await app.call('GET', `${path}?${sent}`);
    const { searchParams } = new URL(String(callback.headers['location']));
    const [code, state] = [searchParams.get('code') ?? '', searchParams.get('state') ?? ''];
    return { flow_token: begun.flow_token, code, state };
  }

  const finish = ({ id }: IdentityProvider, body: object, token?: string): Promise<TestResponse> =>
    post(`providers/${id}/finish`, body, { token });

  const logInWith = async (
    provider: IdentityProvider,
    user: ProviderAccount,
    purpose = 'login',
    token?: string,
  ) => finish(provider, await answer(provider, await begin(provider, purpose, token), user), token);

  /** Does something while a provider does something wrong. */
  async function withFaults(
    provider: IdentityProvider,
    faults: Faults,
    request: () => Promise<TestResponse>,
  ) {
    provider.faults = faults;
    const response = await request();
    provider.faults = {};
    return response;
  }

  const removeIdentity = (id: number | string, token?: string) =>
    app.call('DELETE', `/auth/identities/${id}/`, { token });

  async function signUp(token: unknown, fields: object) {
    const username = `p${process.pid}n${++counter}`;
    return post('providers/sign-up', { sign_up_token: token, username, name: '박나무', ...fields });
  }

  /** Signs up with a provider. @returns the account with its tokens */
  async function signUpWith(provider: IdentityProvider, user: ProviderAccount) {
    const required = await logInWith(provider, user);
    const done = await signUp(required.body.data.sign_up_token, { email: user.email });
    if (done.status !== 201) throw new Error(`sign-up failed: ${required.text} ${done.text}`);
    const { access, user: created } = done.body.data;
    return { token: access, ...created } as { token: string; id: number; username: string; email: string };
  }

  /** Waits for the email to an address that contains a text; emails may come in another order than they were queued. */
  const mailTo = (email: string, part: string) =>
    until(`an email with ${part}`, () =>
      app.mails.sent.find(({ to, text }) => to === email && text.includes(part)),
    );

  async function identitiesOf({ id }: { id: number }) {
    const columns = 'id, provider, issuer, subject, email, token';
    const statement = `SELECT ${columns} FROM identities WHERE user_id = $1 ORDER BY id`;
    return (await app.pool.query(statement, [id])).rows;
  }

  return {
    ...app,
    ...providers,
    providers,
    post,
    begin,
    answer,
    finish,
    logInWith,
    withFaults,
    removeIdentity,
    signUp,
    signUpWith,
    mailTo,
    identitiesOf,
  };
}
