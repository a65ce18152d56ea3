import { type AuthChange, isApiError, memoryStorage } from '@dure/client';
import t from 'tap';
import { password } from '../../../test/support/app.ts';
import { plainImage } from '../../../test/support/images.ts';
import { serve } from '../../../test/support/serve.ts';
import { until } from '../../../test/support/until.ts';
import { caught, createClient, images, openShop, signedIn, spoilAccess, startService } from './clients.ts';

const service = await startService(t, { QUOTA_REQUESTS_PER_DAY: '0' });
const { baseUrl } = service;

t.test('an image is uploaded, and goes into a post', async (t) => {
  const { dure } = await openShop(service, '골목 사진관');
  const image = new Blob([new Uint8Array(await plainImage(64, 48))], { type: 'image/jpeg' });
  const { id, url, width } = await dure.images.upload({ image });
  t.equal(width, 64);
  const post = await dure.posts.create({ title: '사진', content: '내용', images: [url] });
  t.same(post.images, [url]);
  await t.rejects(dure.images.delete({ image_id: id }), { code: 'image_in_use' });
  await t.rejects(dure.images.upload({ image: new Blob(['text']) }), { code: 'invalid_image' });
});

t.test('one flat input goes to the path, the query and the body', async (t) => {
  const { dure, wire } = await openShop(service, '골목 책방');
  const post = await dure.posts.create({ title: '처음', content: '내용', images });
  const changed = await dure.posts.update({ post_id: post.id, title: '나중' });
  t.equal(changed.title, '나중');
  t.match(wire.sent.at(-1), {
    method: 'PATCH',
    path: `/api/v1/posts/${post.id}/`,
    body: JSON.stringify({ title: '나중' }),
  });
  const found = await dure.posts.list({ mine: true, q: '나중&중', limit: 5, cursor: undefined });
  t.same(found.items, []);
  t.match(wire.sent.at(-1)?.path, /\?mine=true&q=[%\w]+26[%\w]+&limit=5$/);
  t.same(await dure.notifications.markRead({ up_to_id: 7 }), { updated_count: 0, unread_count: 0 });
  t.same(await dure.notifications.markRead({ ids: [7] }), { updated_count: 0, unread_count: 0 });
  t.same(await dure.posts.delete({ post_id: post.id }), {});
});

t.test('an id that is none is rejected before anything is sent', async (t) => {
  const shop = await signedIn(service);
  await spoilAccess(shop);
  const { dure, wire } = shop;
  // As JavaScript can call it.
  const call = (method: typeof dure.posts.get | typeof dure.auth.endSession, input: object) =>
    caught(Reflect.apply(method, undefined, [input]));
  const neither = [undefined, null, '', '.', '..', '%2e', '../me/?x=1', '1', '1/', [], [1], ['.'], {}, true];
  const uuid = '0b2f4d5e-8f4a-4f0e-9d8c-1a2b3c4d5e6f';
  for (const post_id of [...neither, 0, -1, 1.5, NaN, Infinity, 1e21, 1n, uuid]) {
    t.match(await call(dure.posts.get, { post_id }), { name: 'TypeError', message: /getPost .*`post_id`/ });
  }
  for (const session_id of [...neither, 1, `${uuid}/`, `${uuid}\n`, `x${uuid}`, [uuid]]) {
    const error = await call(dure.auth.endSession, { session_id });
    t.match(error, { name: 'TypeError', message: /endSession .*`session_id`/ });
  }
  t.match(await call(dure.posts.get, { id: 1 }), { name: 'TypeError' }, 'of another name');
  t.same(wire.sent, []);
  t.match(await call(dure.auth.endSession, { session_id: uuid }), { code: 'session_not_found' });
  t.equal(wire.sent.at(-1)?.path, `/auth/sessions/${uuid}/`);
});

t.test('a header of the caller replaces that of the client', async (t) => {
  const one = await signedIn(service);
  const other = await signedIn(service);
  const tokens = await other.storage.load();
  const own = { authorization: `Bearer ${tokens?.access}`, ACCEPT: 'application/json;q=0.9' };
  t.equal((await one.dure.auth.getCurrentUser({}, { headers: own })).id, other.user.id);
  const { headers } = one.wire.sent.at(-1) ?? {};
  t.equal(headers?.get('authorization'), own.authorization);
  t.equal(headers?.get('accept'), own.ACCEPT);
  const always = createClient({ baseUrl, storage: one.storage, headers: own });
  t.equal((await always.auth.getCurrentUser()).id, other.user.id, 'in all calls');
  const asHeaders = new Headers(own);
  t.equal((await one.dure.auth.getCurrentUser({}, { headers: asHeaders })).id, other.user.id);

  // The client's own tokens have nothing to do with it.
  const spoilt = { headers: { AUTHORIZATION: 'Bearer spoilt' } };
  await t.rejects(one.dure.auth.getCurrentUser({}, spoilt), { code: 'token_not_valid' });
  await t.rejects(one.dure.auth.logOut({}, spoilt), { code: 'token_not_valid' });
  await one.dure.auth.deleteCurrentUser({ password }, { headers: own });
  t.same(one.wire.to('/auth/token/refresh/'), []);
  t.equal((await one.dure.auth.getCurrentUser()).id, one.user.id);

  for (const name of ['X-One', 'Authorization']) {
    const split = one.dure.auth.getCurrentUser({}, { headers: { [name]: 'a\r\nX-Two: b' } });
    await t.rejects(split, { name: 'TypeError' }, name);
  }
});

t.test('a redirect is not followed, so that no password and no token goes elsewhere', async (t) => {
  const reached: string[] = [];
  const elsewhere = await serve(t, (request, response) => {
    reached.push(`${request.method} ${request.url}`);
    response.end('{}');
  });
  const redirecting = await serve(t, (_, response) => {
    response.writeHead(307, { location: `${elsewhere}/` }).end();
  });
  const dure = createClient({ baseUrl: redirecting, retries: 0 });
  const unexpected = { name: 'UnexpectedResponseError', status: 307, message: /a redirect/ };
  t.match(await caught(dure.auth.logIn({ username: 'someone', password })), unexpected);
  t.match(await caught(dure.stores.listCategories()), unexpected);
  t.same(reached, []);
});

t.test('a client needs a base URL', (t) => {
  const addresses = [{ baseUrl: undefined }, { baseUrl: 'https://a.example?b=' }, { baseUrl: '/#' }];
  for (const options of [undefined, {}, ...addresses]) {
    const create = () => Reflect.apply(createClient, undefined, [options]);
    t.throws(create, { name: 'TypeError', message: /`baseUrl`/ });
  }
  t.end();
});

t.test('the whole response has the text, the status and the request id', async (t) => {
  const dure = createClient({ baseUrl, language: 'en' });
  const english = await dure.request('sendVerificationCode', { email: 'whole-answer@example.com' });
  t.match(english, { status: 200, message: /mail/i, data: { accepted: true }, requestId: /^\S+$/ });
  dure.setLanguage('ko');
  const korean = await dure.request('listStoreCategories');
  t.match(korean.message, /[가-힣]/);
  const other = await dure.request('listStoreCategories', {}, { language: 'en' });
  t.notMatch(other.message, /[가-힣]/);
  t.equal((await dure.system.getLiveness()).status, 'ok');
  t.same(await dure.system.getReadiness(), { status: 'ok' });
});

t.test('sign-in and sign-out are reported', async (t) => {
  const storage = memoryStorage();
  const reasons: string[] = [];
  const { dure, user } = await signedIn(service, { storage, onSignedOut: (reason) => reasons.push(reason) });
  const changes: unknown[] = [];
  const stop = dure.onAuthChange((change) => changes.push(change));
  t.equal(dure.isSignedIn(), true);
  t.equal(dure.userId(), user.id);
  t.same(await dure.auth.logOut(), {});
  t.equal(dure.isSignedIn(), false);
  t.equal(storage.load(), null);
  t.match(changes, [
    { event: 'initial', signedIn: true, userId: user.id, user },
    { event: 'signed_out', signedIn: false, userId: null, user: undefined, reason: 'logged_out' },
  ]);
  stop();

  const other = await signedIn(service, { onSignedOut: (reason) => reasons.push(reason) });
  await other.dure.auth.deleteCurrentUser({ password });
  t.equal(other.storage.load(), null);
  t.same(reasons, ['logged_out', 'account_deleted']);
});

t.test('a new token and a changed user are events, and the session has the user', async (t) => {
  const one = await signedIn(service);
  const { dure, user } = one;
  t.match(dure.session, { userId: user.id, user: { name: user.name } }, 'of the login');
  const changes: AuthChange[] = [];
  dure.onAuthChange((change) => changes.push(change));
  await dure.auth.updateCurrentUser({ name: '새 이름' });
  t.match(dure.session.user, { name: '새 이름' });
  await dure.auth.getCurrentUser();
  await spoilAccess(one);
  await dure.auth.getCurrentUser();
  const other = await signedIn(service);
  const own = { authorization: `Bearer ${(await other.storage.load())?.access}` };
  await dure.auth.getCurrentUser({}, { headers: own });
  t.equal(dure.session.user?.id, user.id, 'not that of another account');
  await dure.auth.logOut();
  t.same(dure.session.user, undefined);
  await until('all', () => changes.at(-1)?.event === 'signed_out');
  const events = changes.map(({ event, user: known }) => `${event} ${known?.name}`);
  t.equal(events[0], `initial ${user.name}`);
  t.same(
    [...new Set(events.slice(1))],
    ['user_updated 새 이름', 'token_refreshed 새 이름', 'signed_out undefined'],
  );
  t.equal(events.filter((event) => event.startsWith('user_updated')).length, 1, 'once');
});

t.test('a logout ends the session, also with an access token that is rejected', async (t) => {
  const one = await signedIn(service);
  const tokens = await one.storage.load();
  await spoilAccess(one);
  await one.dure.auth.logOut();
  const again = () => createClient({ baseUrl, storage: memoryStorage(tokens) });
  const error = await caught(again().auth.getCurrentUser());
  t.ok(isApiError(error, 'getCurrentUser') && error.code === 'token_not_valid');
  t.same(await again().auth.logOut(), {}, 'a session that has ended');
});
