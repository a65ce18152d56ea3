import { type Client, LoginWithError, type LoginWithOptions } from '@dure/client';
import { Secret, TOTP } from 'otpauth';
import t, { type Test } from 'tap';
import { replace } from '../../../test/support/timers.ts';
import { caught, createClient, createWire, signedIn, startService } from './clients.ts';

const service = await startService(t);
const { baseUrl } = service;
const origin = 'https://app.example.com';

/** What a page has: its address, and what its tab keeps. */
const kept = new Map<string, string>();
const location = { href: `${origin}/login`, origin, pathname: '/login/callback' };
const history = {
  state: null,
  replaceState(_state: unknown, _title: string, path: string) {
    location.href = origin + path;
  },
};
const sessionStorage = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, text: string) => kept.set(key, text),
  removeItem: (key: string) => kept.delete(key),
};

/** A test in that page. Files share a process, so the page is taken away after each test. */
const inPage = (name: string, run: (t: Test) => Promise<void>) =>
  t.test(name, async (t) => {
    replace(t, globalThis, { location, history, sessionStorage });
    await run(t);
  });

interface Person {
  subject: string;
  email?: string;
}

/** What the browser does between the two halves, with the provider for development. @returns the URL of the callback page */
async function visit(url: string, { subject, email = '' }: Person): Promise<string> {
  const form = new URLSearchParams(new URL(url).searchParams);
  for (const [name, value] of Object.entries({ subject, email, is_email_proved: 'true' }))
    form.set(name, value);
  const sent = await fetch(`${baseUrl}/dev/login/`, { method: 'POST', body: form, redirect: 'manual' });
  const callback = new URL(sent.headers.get('location') ?? '');
  const page = await fetch(baseUrl + callback.pathname + callback.search, { redirect: 'manual' });
  return page.headers.get('location') ?? '';
}

/** Both halves. */
async function loginWith(dure: Client, person: Person, options: LoginWithOptions = {}) {
  const left = new Promise<string>((navigate, reject) => {
    dure.auth.loginWith('development', { ...options, navigate }).catch(reject);
  });
  location.href = await visit(await left, person);
  return dure.auth.finishLoginWith();
}

let people = 0;
const newPerson = (): Person => ({ subject: `person-${process.pid}-${++people}` });

/** An account that was created with the provider. */
async function signUp(person: Person) {
  const dure = createClient({ baseUrl });
  const result = await loginWith(dure, person);
  if (result.status !== 'sign_up_required') throw new Error(result.status);
  const email = `${person.subject}@example.com`;
  const { user } = await dure.auth.signUpWithProvider({
    sign_up_token: result.token,
    username: person.subject,
    name: '김두레',
    email,
  });
  return { dure, user, result };
}

inPage('a first login leads to a sign-up, which signs in, and the next one signs in', async (t) => {
  const person = { ...newPerson(), email: 'first-login@example.com' };
  const { dure, user, result } = await signUp(person);
  t.match(result, { suggested: { email: person.email, is_email_verified: true }, returnTo: undefined });
  t.equal(dure.userId(), user.id);
  t.equal((await dure.auth.getCurrentUser()).id, user.id);
  const other = createClient({ baseUrl });
  t.match(await loginWith(other, person, { returnTo: '/posts?q=1' }), {
    status: 'logged_in',
    user: { id: user.id },
    returnTo: '/posts?q=1',
  });
  t.equal(other.userId(), user.id);
  t.equal(location.href, `${origin}/login/callback`, 'the code is not in the address any more');
});

inPage('an address that an account has proved leads to a link, after a login', async (t) => {
  const { dure, user } = await signedIn(service);
  await service.pool.query('UPDATE users SET is_verified = true WHERE id = $1', [user.id]);
  const person = { ...newPerson(), email: user.email };
  const result = await loginWith(createClient({ baseUrl }), person);
  if (result.status !== 'link_required') return void t.fail(result.status);
  const { provider } = await dure.auth.addIdentity({ link_token: result.token });
  t.equal(provider, 'development');
  t.match(await loginWith(createClient({ baseUrl }), person), { status: 'logged_in', user: { id: user.id } });
});

inPage('a user who is signed in links and confirms', async (t) => {
  const { dure } = await signedIn(service);
  const person = newPerson();
  const linked = await loginWith(dure, person, { purpose: 'link', returnTo: '/settings' });
  t.match(linked, { status: 'linked', identity: { provider: 'development' }, returnTo: '/settings' });
  const confirmed = await loginWith(dure, person, { purpose: 'confirm' });
  t.match(confirmed, { status: 'confirmed', until: /Z$/ });
});

inPage('an account with a second factor is asked for it', async (t) => {
  const person = newPerson();
  const { dure, user } = await signUp(person);
  const { secret } = await dure.secondFactor.startTotp();
  const app = new TOTP({ secret: Secret.fromBase32(secret) });
  const { recovery_codes } = await dure.secondFactor.confirmTotp({ code: app.generate() });
  const next = createClient({ baseUrl });
  const result = await loginWith(next, person);
  if (result.status !== 'second_factor_required') return void t.fail(result.status);
  t.same(result.methods, ['totp', 'recovery_code']);
  t.equal(next.isSignedIn(), false);
  await next.auth.finishLogin({ second_factor_token: result.token, code: recovery_codes[0] ?? '' });
  t.equal(next.userId(), user.id);
});

inPage('only the tab that began a login finishes it, once', async (t) => {
  const wire = createWire();
  const dure = createClient({ baseUrl, fetch: wire.fetch });
  const notStarted = async (url: string) =>
    t.match(await caught(dure.auth.finishLoginWith(url)), { name: 'LoginWithError', code: 'not_started' });
  const callback = `${origin}/login/callback?code=1&state=2&provider=`;
  await notStarted(`${callback}development`);
  const begin = () => dure.auth.loginWith('development', { navigate: () => undefined });
  await begin();
  t.equal(kept.size, 1);
  await notStarted(`${callback}kakao`);
  t.equal(kept.size, 0);
  await begin();
  await notStarted(`${origin}/login/callback?provider=development`);
  t.same(wire.to('/auth/providers/development/finish/'), []);
  await begin();
  t.match(await caught(dure.auth.finishLoginWith(`${callback}development`)), { code: 'provider_refused' });
  await notStarted(`${callback}development`);
  t.equal(wire.to('/auth/providers/development/finish/').length, 1);
});

inPage('a user who declines and a provider that fails are different errors', async (t) => {
  const dure = createClient({ baseUrl });
  for (const [error, code] of [
    ['access_denied', 'declined'],
    ['user_cancelled_authorize', 'declined'],
    ['server_error', 'failed'],
  ] as const) {
    await dure.auth.loginWith('development', { navigate: () => undefined });
    const url = `${origin}/login/callback?provider=development&error=${error}`;
    const rejected = await caught(dure.auth.finishLoginWith(url));
    t.ok(rejected instanceof LoginWithError && rejected.code === code, code);
    t.equal(kept.size, 0);
  }
});

inPage('the user returns to this origin only', async (t) => {
  const wire = createWire();
  const dure = createClient({ baseUrl, fetch: wire.fetch });
  for (const returnTo of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
  ]) {
    t.match(await caught(dure.auth.loginWith('development', { returnTo })), { name: 'TypeError' }, returnTo);
  }
  t.same(wire.sent, []);
});

inPage('what cannot work here is refused before anything is sent', async (t) => {
  const { dure, wire } = await signedIn(service);
  const unsupported = { name: 'NotSupportedError' };
  for (const work of [dure.passkeys.logIn, dure.passkeys.register]) {
    t.match(await caught(work()), { ...unsupported, message: /Passkeys need a browser/ });
  }
  t.match(await caught(dure.passkeys.logIn({ conditional: true })), unsupported);
  // As in React Native and on a server.
  replace(t, globalThis, { sessionStorage: undefined });
  const elsewhere = dure.auth.loginWith('development', { navigate: () => undefined });
  t.match(await caught(elsewhere), { ...unsupported, message: /browser/ });
  t.match(await caught(dure.auth.finishLoginWith(`${origin}/login/callback`)), unsupported);
  t.same(wire.sent, []);
});

inPage('the name of a provider leads to no other operation', async (t) => {
  const wire = createWire();
  const dure = createClient({ baseUrl, fetch: wire.fetch });
  for (const name of ['', '.', '..']) t.match(await caught(dure.auth.loginWith(name)), { name: 'TypeError' });
  t.same(wire.sent, []);
  t.match(await caught(dure.auth.loginWith('../kakao?a=#')), { code: 'provider_not_found' });
  t.equal(wire.sent[0]?.path, '/auth/providers/..%2Fkakao%3Fa%3D%23/start/');
});
