import { type Client, isApiError, NetworkError } from '@dure/client';
import t, { type Test } from 'tap';
import { password } from '../../../test/support/app.ts';
import { gate } from '../../../test/support/concurrency.ts';
import { replace } from '../../../test/support/timers.ts';
import { until } from '../../../test/support/until.ts';
import { caught, createClient, createWire, signedIn, startService } from './clients.ts';

const service = await startService(t);
const { baseUrl } = service;
const refreshPath = '/auth/token/refresh/';

/** What the tabs of a browser have in common: cookies and `localStorage`. */
function createBrowser(t: Test) {
  const local = new Map<string, string>();
  const listeners = new Set<(event: object) => void>();
  /** Browsers pass a change on later. */
  const change = (key: string, work: () => void) => {
    work();
    setImmediate(() => {
      for (const listen of listeners) listen({ key, storageArea: localStorage });
    });
  };
  const localStorage = {
    getItem: (key: string) => local.get(key) ?? null,
    setItem: (key: string, text: string) => change(key, () => local.set(key, text)),
    removeItem: (key: string) => change(key, () => local.delete(key)),
  };
  const addEventListener = (_type: string, listen: (event: object) => void) => listeners.add(listen);
  replace(t, globalThis, { localStorage, addEventListener, document: {} });

  const wire = createWire();
  const browser = {
    local,
    listeners,
    wire,
    cookie: '',
    /** Requests that could send or set the cookie. */
    withCookie: [] as string[],
    /** As browsers do it: the cookie of a response counts when the response arrives. */
    async fetch(url: string, init: RequestInit): Promise<Response> {
      if (init.credentials !== 'include') return wire.fetch(url, init);
      browser.withCookie.push(`${new URL(url).pathname} ${init.keepalive}`);
      const headers = { ...Object.fromEntries(new Headers(init.headers)), cookie: browser.cookie };
      const response = await wire.fetch(url, { ...init, headers });
      const [set] = response.headers.getSetCookie();
      if (set !== undefined) browser.cookie = /^[^=]+=[^;]+/.exec(set)?.[0] ?? '';
      return response;
    },
    /** A tab, and why it was signed out. */
    openTab() {
      const reasons: string[] = [];
      const onSignedOut = (reason: string) => reasons.push(reason);
      const dure = createClient({ baseUrl, fetch: browser.fetch, tokens: 'cookie', retries: 0, onSignedOut });
      return { dure, reasons };
    },
  };
  return browser;
}

const { username, user } = await signedIn(service);
const logIn = (dure: Client, name = username) => dure.auth.logIn({ username: name, password });

t.test('only logins, refreshes and logouts have the cookie, and no script its token', async (t) => {
  const browser = createBrowser(t);
  const { openTab, local, wire, withCookie } = browser;
  const { dure } = openTab();
  const login = await logIn(dure);
  t.equal(login.refresh, undefined);
  t.same([...local], [['dure', String(user.id)]]);
  t.equal((await dure.auth.getCurrentUser()).id, user.id);
  const next = openTab();
  t.equal((await next.dure.auth.getCurrentUser()).id, user.id);
  await next.dure.auth.logOut();
  t.same(withCookie, ['/auth/login/ true', `${refreshPath} true`, '/auth/logout/ true']);
  const asked = wire.sent.filter(({ headers }) => headers.has('x-refresh-token'));
  t.same(
    asked.map(({ path }) => path),
    ['/auth/login/', refreshPath, '/auth/logout/'],
  );
  t.equal(local.size, 0);
  t.equal(browser.cookie, '');
});

t.test('a visitor who never logged in causes no refresh', async (t) => {
  const { openTab, wire } = createBrowser(t);
  const { dure } = openTab();
  t.equal(dure.isSignedIn(), false);
  t.match(await caught(dure.auth.getCurrentUser()), { code: 'not_authenticated' });
  t.same(wire.to(refreshPath), []);
});

t.test('a new tab is signed in at once, and refreshes once for all its calls', async (t) => {
  const { openTab, wire } = createBrowser(t);
  await logIn(openTab().dure);
  const { dure } = openTab();
  t.equal(dure.isSignedIn(), true);
  t.equal(dure.userId(), user.id);
  t.same(wire.to(refreshPath), []);
  await Promise.all(Array.from({ length: 5 }, () => dure.auth.getCurrentUser()));
  t.equal(wire.to(refreshPath).length, 1);
});

t.test('a new tab without network keeps the login', async (t) => {
  const { openTab, wire } = createBrowser(t);
  await logIn(openTab().dure);
  const { dure, reasons } = openTab();
  wire.before = () => {
    throw new TypeError('fetch failed');
  };
  t.ok((await caught(dure.auth.getCurrentUser())) instanceof NetworkError);
  wire.before = () => undefined;
  t.equal((await dure.auth.getCurrentUser()).id, user.id);
  t.same(reasons, []);
});

t.test('a logout signs out all tabs, also from one that has not refreshed yet', async (t) => {
  const { openTab, wire } = createBrowser(t);
  const first = openTab();
  await logIn(first.dure);
  const second = openTab();
  await second.dure.auth.logOut();
  t.equal(wire.to('/auth/logout/')[0]?.headers.has('authorization'), false);
  await until('the other tab', () => !first.dure.isSignedIn());
  t.same([first.reasons, second.reasons], [['elsewhere'], ['logged_out']]);
  t.match(await caught(first.dure.auth.getCurrentUser()), { code: 'not_authenticated' });
});

t.test('a logout forgets the access token, also when another tab logs in again', async (t) => {
  const { openTab, wire, listeners } = createBrowser(t);
  const [first, second] = [openTab().dure, openTab().dure];
  // Browsers do not tell a tab of its own changes, and the first one learns of the login with its next call.
  listeners.clear();
  await logIn(first);
  const access = () => wire.sent.at(-1)?.headers.get('authorization');
  await first.auth.getCurrentUser();
  const before = access();
  await first.auth.logOut();
  await logIn(second);
  wire.sent.length = 0;
  t.equal((await first.auth.getCurrentUser()).id, user.id);
  t.match(wire.sent, [{ path: refreshPath }, { path: '/auth/me/' }], 'it is not tried');
  t.not(access(), before);
});

t.test('a cookie that the browser has removed ends the login, and a logout without it works', async (t) => {
  const browser = createBrowser(t);
  await logIn(browser.openTab().dure);
  browser.cookie = '';
  t.same(await browser.openTab().dure.auth.logOut(), {});
  await logIn(browser.openTab().dure);
  browser.cookie = '';
  const { dure, reasons } = browser.openTab();
  t.ok(isApiError(await caught(dure.auth.getCurrentUser()), 'getCurrentUser'));
  t.same(reasons, ['expired']);
  t.equal(browser.local.size, 0);
});

t.test('a login during a refresh has the last word about the cookie', async (t) => {
  const browser = createBrowser(t);
  const next = await signedIn(service);
  await logIn(browser.openTab().dure);
  const { dure } = browser.openTab();
  const { open, opened } = gate();
  browser.wire.after = ({ path }) => (path === refreshPath ? opened : undefined);
  const call = dure.auth.getCurrentUser();
  await until('a refresh', () => browser.wire.to(refreshPath).length === 1);
  const login = logIn(dure, next.username);
  await new Promise(setImmediate);
  t.equal(browser.wire.to('/auth/login/').length, 1, 'the login waits');
  open();
  t.equal((await call).id, user.id);
  await login;
  t.equal((await dure.auth.getCurrentUser()).id, next.user.id);
  t.equal((await browser.openTab().dure.auth.getCurrentUser()).id, next.user.id);
});

t.test('the cookie of another account, from another page of the site, signs out', async (t) => {
  const browser = createBrowser(t);
  const next = await signedIn(service);
  const { dure, reasons } = browser.openTab();
  await logIn(dure);
  // Another origin has the same cookie and another `localStorage`.
  const headers = { 'content-type': 'application/json', 'x-refresh-token': 'cookie' };
  const body = JSON.stringify({ username: next.username, password });
  await browser.fetch(`${baseUrl}/auth/login/`, { method: 'POST', credentials: 'include', headers, body });
  const tab = browser.openTab();
  t.match(await caught(tab.dure.auth.getCurrentUser()), { code: 'not_authenticated' });
  t.equal(tab.dure.isSignedIn(), false);
  t.same(tab.reasons, ['elsewhere']);
  await until('the other tab', () => !dure.isSignedIn());
  t.same(reasons, ['elsewhere']);
});

t.test('tokens that an earlier version of the app kept are removed', async (t) => {
  const { openTab, local } = createBrowser(t);
  local.set('dure', JSON.stringify({ access: 'a', refresh: 'secret', renew_at: 0, user_id: user.id }));
  t.equal(openTab().dure.isSignedIn(), false);
  t.equal(local.size, 0);
});
