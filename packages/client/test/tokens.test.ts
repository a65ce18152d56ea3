import { isApiError, NetworkError } from '@dure/client';
import t from 'tap';
import { password } from '../../../test/support/app.ts';
import { gate } from '../../../test/support/concurrency.ts';
import { until } from '../../../test/support/until.ts';
import {
  badGateway,
  caught,
  createClient,
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
