import {
  browserStorage,
  isApiError,
  memoryStorage,
  NetworkError,
  type TokenStorage,
  type Tokens,
} from '@dure/client';
import t from 'tap';
import { password } from '../../../test/support/app.ts';
import { until } from '../../../test/support/until.ts';
import {
  badGateway,
  caught,
  createClient,
  gate,
  images,
  openShop,
  signedIn,
  spoilAccess,
  startService,
} from './clients.ts';

const service = await startService(t);
const { baseUrl } = service;
const refreshPath = '/auth/token/refresh/';

/** A client with an access token that the service rejects, and whose refresh waits until it is opened. */
async function refreshing(one: Awaited<ReturnType<typeof signedIn>>) {
  await spoilAccess(one);
  const { open, opened } = gate();
  one.wire.after = ({ path }) => (path === refreshPath ? opened : undefined);
  const begun = () => until('a refresh', () => one.wire.to(refreshPath).length === 1);
  return { open, begun };
}

t.test('twenty calls at once refresh once', async (t) => {
  const one = await signedIn(service);
  await spoilAccess(one);
  const users = await Promise.all(Array.from({ length: 20 }, () => one.dure.auth.getCurrentUser()));
  t.ok(users.every(({ id }) => id === one.user.id));
  t.equal(one.wire.to(refreshPath).length, 1);
});

t.test('an access token is renewed before it expires', async (t) => {
  const one = await signedIn(service);
  const tokens = await one.storage.load();
  if (!tokens) return void t.fail('no tokens');
  const now = Date.now();
  t.ok(tokens.renew_at > now && tokens.renew_at < now + 900_000);
  await one.storage.save({ ...tokens, renew_at: 0 });
  await one.dure.auth.getCurrentUser();
  t.match(one.wire.sent, [{ path: refreshPath }, { path: '/auth/me/' }]);
  const renewed = await one.storage.load();
  t.not(renewed?.access, tokens.access);
  t.equal(one.wire.sent[1]?.headers.get('authorization'), `Bearer ${renewed?.access}`);
});

t.test('a refresh without a response keeps the tokens', async (t) => {
  const reasons: string[] = [];
  const one = await signedIn(service, { retries: 0, onSignedOut: (reason) => reasons.push(reason) });
  await spoilAccess(one);
  one.wire.before = ({ path }) => {
    if (path === refreshPath) throw new TypeError('fetch failed');
    return undefined;
  };
  t.ok((await caught(one.dure.auth.getCurrentUser())) instanceof NetworkError);
  one.wire.before = ({ path }) => (path === refreshPath ? badGateway(503) : undefined);
  t.match(await caught(one.dure.auth.getCurrentUser()), { name: 'UnexpectedResponseError', status: 503 });
  one.wire.before = () => undefined;
  t.equal((await one.dure.auth.getCurrentUser()).id, one.user.id);
  t.same(reasons, []);
});

t.test('a refresh whose response was lost is repeated', async (t) => {
  const one = await signedIn(service);
  await spoilAccess(one);
  let lost = 0;
  one.wire.after = ({ path }) => {
    if (path === refreshPath && lost++ === 0) throw new TypeError('fetch failed');
  };
  t.equal((await one.dure.auth.getCurrentUser()).id, one.user.id);
  t.equal(one.wire.to(refreshPath).length, 2);
});

t.test('a session that has ended signs out once, with the reason', async (t) => {
  const reasons: string[] = [];
  const one = await signedIn(service, { onSignedOut: (reason) => reasons.push(reason) });
  const other = createClient({ baseUrl });
  await other.auth.logIn({ username: one.username, password });
  await other.auth.endOtherSessions();
  const errors = await Promise.all(Array.from({ length: 5 }, () => caught(one.dure.auth.getCurrentUser())));
  t.ok(errors.every((error) => isApiError(error, 'getCurrentUser') && error.code === 'token_not_valid'));
  t.equal(await one.storage.load(), null);
  t.equal(one.dure.isSignedIn(), false);
  t.same(reasons, ['revoked']);
  t.equal(one.wire.to(refreshPath).length, 1);
});

t.test('a logout during a refresh is not undone', async (t) => {
  const one = await signedIn(service);
  const { open, begun } = await refreshing(one);
  const call = caught(one.dure.auth.getCurrentUser());
  await begun();
  await one.dure.auth.logOut();
  open();
  t.ok(isApiError(await call, 'getCurrentUser'));
  t.equal(await one.storage.load(), null);
  t.equal(one.dure.isSignedIn(), false);
});

t.test('a login during a refresh stays, and the call is not repeated as the other account', async (t) => {
  const one = await openShop(service, '두레 카페');
  const next = await openShop(service, '골목 꽃집');
  const { open, begun } = await refreshing(one);
  const call = caught(one.dure.posts.create({ title: '누구의 글', content: '내용', images }));
  await begun();
  await one.dure.auth.logIn({ username: next.username, password });
  const stored = await one.storage.load();
  open();
  t.ok(isApiError(await call, 'createPost'));
  t.same(await one.storage.load(), stored);
  t.same((await one.dure.posts.list({ mine: true })).items, []);
  t.equal((await one.dure.auth.getCurrentUser()).id, next.user.id);
});

t.test('an aborted call does not abort the refresh of the others', async (t) => {
  const one = await signedIn(service);
  const { open, begun } = await refreshing(one);
  const leaving = new AbortController();
  const aborted = caught(one.dure.auth.getCurrentUser({}, { signal: leaving.signal }));
  const kept = one.dure.stores.getMyPage();
  await begun();
  leaving.abort();
  t.match(await aborted, { name: 'AbortError' });
  open();
  t.same((await kept).store, null);
});

t.test('a storage may answer later, and another program may change it', async (t) => {
  const one = await signedIn(service);
  const kept = memoryStorage(await one.storage.load());
  const listeners = new Set<() => void>();
  const storage: TokenStorage = {
    load: async () => kept.load(),
    save: async (tokens) => kept.save(tokens),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const reasons: string[] = [];
  const dure = createClient({ baseUrl, storage, onSignedOut: (reason) => reasons.push(reason) });
  t.equal(dure.isSignedIn(), false);
  await dure.ready;
  t.equal(dure.isSignedIn(), true);
  t.equal((await dure.auth.getCurrentUser()).id, one.user.id);
  kept.save(null);
  for (const listener of listeners) listener();
  await until('a sign-out', () => !dure.isSignedIn());
  t.same(reasons, ['elsewhere']);
});

t.test('a login in another tab does not bring back the user of an earlier login', async (t) => {
  const one = await signedIn(service);
  const kept = memoryStorage();
  let [isFull, changed] = [false, () => {}];
  const storage: TokenStorage = {
    load: () => kept.load(),
    save(tokens) {
      if (isFull) throw new Error('the disk is full');
      return kept.save(tokens);
    },
    subscribe(listener) {
      changed = listener;
      return () => undefined;
    },
  };
  const dure = createClient({ baseUrl, storage });
  const logIn = () => dure.auth.logIn({ username: one.username, password });
  const elsewhere = async (tokens: Tokens | null) => {
    await kept.save(tokens);
    changed();
    await until('the change', () => dure.userId() === (tokens?.user_id ?? null));
  };
  await logIn();
  t.equal(dure.session.user?.id, one.user.id);
  const tokens = await kept.load();
  await elsewhere(null);
  await elsewhere(tokens);
  t.equal(dure.userId(), one.user.id);
  t.equal(dure.session.user, undefined);

  await elsewhere(null);
  isFull = true;
  t.match(await caught(logIn()), { message: 'the disk is full' });
  await elsewhere(tokens);
  t.equal(dure.session.user, undefined, 'nor one whose tokens could not be stored');
});

t.test('a changed user reaches the other tabs', async (t) => {
  const one = await signedIn(service);
  const name = `tabs-${one.user.id}`;
  const tab = async () => {
    const dure = createClient({ baseUrl, storage: { ...memoryStorage(await one.storage.load()), name } });
    const events: string[] = [];
    await dure.ready;
    dure.onAuthChange(({ event, user }) => events.push(`${event} ${user?.name}`));
    return { dure, events };
  };
  const [here, there] = [await tab(), await tab()];
  await here.dure.auth.updateCurrentUser({ name: '새 이름' });
  await until('the change', () => there.events.length === 2);
  await there.dure.auth.getCurrentUser();
  await there.dure.auth.updateCurrentUser({ name: '또 다른 이름' });
  await until('the change back', () => here.events.length === 3);
  t.same(here.events, ['initial undefined', 'user_updated 새 이름', 'user_updated 또 다른 이름']);
  t.same(there.events, here.events, 'each once');
  t.equal(here.dure.session.user?.name, '또 다른 이름');
});

t.test('a login while the storage is read is not taken for a sign-out', async (t) => {
  const one = await signedIn(service);
  const kept = memoryStorage();
  const { open, opened } = gate();
  let isHeld = false;
  const storage: TokenStorage = {
    async load() {
      const tokens = await kept.load();
      if (isHeld) await opened;
      return tokens;
    },
    save: (tokens) => kept.save(tokens),
  };
  const changes: unknown[] = [];
  const dure = createClient({ baseUrl, storage });
  await dure.ready;
  dure.onAuthChange(({ signedIn }) => changes.push(signedIn));
  isHeld = true;
  const call = dure.auth.getCurrentUser();
  await dure.auth.logIn({ username: one.username, password });
  isHeld = false;
  open();
  t.equal((await call).id, one.user.id);
  t.same(changes, [false, true]);
  t.equal(dure.isSignedIn(), true);
});

t.test('the storage of browsers is rejected elsewhere, where all users would share it', async (t) => {
  // Another file of this process may have it.
  Reflect.deleteProperty(globalThis, 'document');
  t.throws(() => browserStorage(), { name: 'TypeError', message: /accessToken/ });
  t.throws(() => createClient({ baseUrl, tokens: 'cookie' }), { name: 'TypeError' });
});

t.test('a server has a client for each request, with the token of its user', async (t) => {
  const [one, two] = await Promise.all([signedIn(service), signedIn(service)]);
  const access = async ({ storage }: typeof one) => (await storage.load())?.access;
  const dure = createClient({ baseUrl, accessToken: () => access(one) });
  t.equal((await dure.auth.getCurrentUser()).id, one.user.id);
  t.equal(dure.userId(), one.user.id);
  await dure.auth.logIn({ username: two.username, password });
  t.equal((await dure.auth.getCurrentUser()).id, one.user.id, 'a login through it changes nothing');
  let uses = 0;
  const accessToken = async () => `${await access(two)}${uses++ === 1 ? 'x' : ''}`;
  const renewing = createClient({ baseUrl, accessToken });
  await renewing.ready;
  t.equal((await renewing.auth.getCurrentUser()).id, two.user.id, 'a rejected token is asked for again');
  const rejected = await caught(createClient({ baseUrl, accessToken: () => 'x.y.z' }).auth.getCurrentUser());
  t.match(rejected, { code: 'token_not_valid' });
  const guest = createClient({ baseUrl, accessToken: () => null });
  t.match(await caught(guest.auth.getCurrentUser()), { code: 'not_authenticated' });
  t.ok((await guest.stores.listCategories()).items, 'what needs no login works');
});

t.test('a storage that fails rejects the call and nothing else', async (t) => {
  const storage: TokenStorage = {
    load: () => Promise.reject(new Error('the disk is full')),
    save: () => undefined,
  };
  const dure = createClient({ baseUrl, storage });
  t.match(await caught(dure.auth.getCurrentUser()), { message: 'the disk is full' });
  t.match(await caught(dure.ready), { message: 'the disk is full' });
  t.ok((await dure.stores.listCategories()).items.length > 0, 'operations without a token work');
});
