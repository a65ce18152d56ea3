import t from 'tap';
import { MailRejectedError, type OutgoingMail } from '../../src/infrastructure/mail/transport.ts';
import { accountsOf, newPassword, signUpBody } from '../auth/accounts.ts';
import { latestCode, newResetLink, passTime } from '../auth/mailbox.ts';
import { notificationsIn } from '../notifications/notified.ts';
import { createTestApp, createUser, deleteAccount, logIn, signUpUser, verifyEmails } from '../support/app.ts';
import { rejected, tally, tokenRejected } from '../support/assertions.ts';
import { during, gate, inOrder, inParallel, lockRows, pauseInserts, rowOf } from '../support/concurrency.ts';
import {
  notificationsOf,
  notifiedOf,
  openTwoShops,
  requestPartnership,
  sendRequest,
  strandedRequests,
  transition,
} from '../support/partner-requests.ts';
import { countRows, everyRow, tablesWith } from '../support/rows.ts';
import { createPost, createStore, idsIn, openShop, type Shop } from '../support/stores.ts';

const app = await createTestApp();
const other = await app.startInstance();

const { me, refresh, signUp, tryLogin, confirm, validateReset, confirmReset, ended } = accountsOf(app);
const stores = '/api/v1/stores/';
const posts = '/api/v1/posts/';

t.test('DELETE removes the account, and every instance rejects its tokens at once', async (t) => {
  const user = await createUser(app);
  const sessions = [user, await logIn(app, user), await logIn(other, user)];
  t.equal((await deleteAccount(app, user)).status, 200);
  for (const session of sessions) {
    await ended(t, session, other);
    tokenRejected(t, await deleteAccount(app, { ...user, ...session }), 'revoked');
  }
  for (const login of [user.username, user.email])
    rejected(t, await tryLogin(login), 401, 'invalid_credentials');
});

t.test('a deletion withdraws pending requests, ends partnerships and notifies the other side', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const third = await openShop(app, '셋째 가게');
  const own = await createPost(app, sender.token, { title: '내 글' });
  const sent = await sendRequest(app, sender, post);
  const received = await sendRequest(app, third, own);
  const settled = await sendRequest(app, receiver, own);
  await transition(app, sender, settled, 'accept');
  t.equal((await deleteAccount(app, sender)).status, 200);
  t.strictSame(await notifiedOf(app, receiver), [
    ['ended', settled, '종료됨'],
    ['withdrawn', sent, '취소됨'],
    ['accepted', settled, '종료됨'],
    ['received', sent, '취소됨'],
  ]);
  t.strictSame(await notifiedOf(app, third), [['withdrawn', received, '취소됨']]);
  const sentences = async (shop: Shop) =>
    (await notificationsOf(app, shop)).items.map(({ message }: { message: string }) => message);
  const [end, withdrawn] = await sentences(receiver);
  t.equal(end, '두레 베이커리에서 ‘내 글’ 글로 맺은 제휴를 종료했습니다.');
  t.equal(withdrawn, '두레 베이커리에서 ‘주말 공동 할인’ 글에 보낸 제휴 요청을 취소했습니다.');
  const [deleted] = await sentences(third);
  t.equal(deleted, '두레 베이커리에서 올린 ‘내 글’ 글이 삭제되어 제휴 요청이 취소되었습니다.');
  rejected(t, await transition(app, receiver, sent, 'accept'), 409, 'invalid_transition');
  rejected(t, await transition(app, third, received, 'withdraw'), 409, 'invalid_transition');
  rejected(t, await transition(app, receiver, settled, 'end'), 409, 'invalid_transition');
  t.strictSame(await strandedRequests(app), []);
});

t.test('store and posts of a deleted account are not found, and the store keeps its name only', async (t) => {
  const { token } = await createUser(app);
  const owner = await openShop(app, '떠나는 가게', {
    description: '소개',
    address: '마포구 망원동',
    phone_number: '02-123-4567',
    business_hours: '매일',
    location: { latitude: 37.5, longitude: 126.9 },
  });
  const { id } = owner.store;
  const post = await createPost(app, owner.token, { title: '떠나는 가게의 글' });
  t.equal((await deleteAccount(app, owner)).status, 200);
  rejected(t, await app.call('GET', `${stores}${id}/`, { token }), 404, 'store_not_found');
  rejected(t, await app.call('GET', `${posts}${post.id}/`, { token }), 404, 'post_not_found');
  const query = `?q=${encodeURIComponent('떠나는')}`;
  for (const path of [stores, posts])
    t.strictSame(idsIn(await app.call('GET', `${path}${query}`, { token })), [], path);
  const { rows } = await app.pool.query(
    `SELECT name, description || address || phone_number || business_hours || sido || sigungu || dong AS others, region_keys,
       latitude, longitude, owner_id, closed_at IS NOT NULL AS is_closed FROM stores WHERE id = $1`,
    [id],
  );
  const nothing = { others: '', region_keys: [], latitude: null, longitude: null, owner_id: null };
  t.strictSame(rows, [{ name: '떠나는 가게', ...nothing, is_closed: true }]);
  const deleted = await app.pool.query('SELECT deleted_at FROM posts WHERE id = $1', [post.id]);
  t.match(deleted.rows, [{ deleted_at: Date }]);
  const again = await createUser(app, { username: owner.username, email: owner.email });
  t.not((await createStore(app, again.token)).id, id, 'its owner can register again');
});

t.test('of 20 concurrent deletions, one removes the account', async (t) => {
  const user = await createUser(app);
  const responses = await inParallel(20, () => deleteAccount(app, user));
  t.strictSame(tally(responses), { '200': 1, '401 token_not_valid': 19 });
});

t.test('logins, refreshes and changes during a deletion leave nothing', async (t) => {
  const user = await createUser(app);
  const [deletion, ...others] = await Promise.all([
    deleteAccount(app, user),
    ...Array.from({ length: 5 }, () => tryLogin(user.username)),
    ...Array.from({ length: 5 }, () => refresh(user.refresh)),
    ...Array.from({ length: 5 }, () =>
      app.call('PATCH', '/auth/me/', { token: user.token, body: { name: '바뀐 이름' } }),
    ),
  ]);
  t.equal(deletion.status, 200, deletion.text);
  for (const { status, body, text } of others) {
    t.ok([200, 401].includes(status), text);
    if (status === 200 && body.data.access) tokenRejected(t, await me(body.data.access), 'revoked');
  }
  t.equal(await countRows(app, 'users WHERE id = $1', user.id), 0);
});

t.test('a post written during the deletion of its account is deleted', async (t) => {
  for (let round = 0; round < 2; round++) {
    const shop = await openShop(app, '떠나는 가게');
    const { token, store } = shop;
    const body = { title: '글', content: '내용', images: ['https://cdn.example.com/1.jpg'] };
    const [gone, ...written] = await Promise.all([
      deleteAccount(app, shop),
      ...Array.from({ length: 4 }, () => app.call('POST', posts, { token, body })),
    ]);
    t.equal(gone.status, 200);
    for (const { status } of written) t.ok([201, 401, 403].includes(status), `status ${status}`);
    t.equal(await countRows(app, 'posts WHERE store_id = $1 AND deleted_at IS NULL', store.id), 0);
  }
});

t.test('a password reset of an account in deletion is rejected', async (t) => {
  const user = await createUser(app);
  const link = await newResetLink(app, user.email);
  const deletion: [string, number] = ['DELETE FROM users WHERE id = $1', user.id];
  const reset = await during(t, app, deletion, () => confirmReset(link));
  rejected(t, reset, 400, 'reset_link_invalid');
});

t.test('a store in an uncommitted registration is closed by the deletion of its account', async (t) => {
  const user = await createUser(app);
  const links = await pauseInserts(t, app, 'store_category_links');
  const open = () => createStore(app, user.token);
  const [{ id }, deleted] = await inOrder(t, app, links, open, () => deleteAccount(app, user));
  t.equal(deleted.status, 200);
  const { rows } = await app.pool.query('SELECT owner_id, closed_at FROM stores WHERE id = $1', [id]);
  t.match(rows, [{ owner_id: null, closed_at: Date }]);
});

t.test('requests from and to an account in deletion are rejected', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const own = await createPost(app, sender.token);
  const id = await sendRequest(app, receiver, own);
  const lock = await lockRows(t, app, 'SELECT FROM partner_requests WHERE id = $1 FOR UPDATE', [id]);
  const deleted = deleteAccount(app, sender);
  await lock.waiters(1);
  const third = await openShop(app, '셋째 가게');
  const asked = requestPartnership(app, third, own);
  const asking = requestPartnership(app, sender, post, { 'idempotency-key': 'leaving' });
  await lock.waiters(3);
  await lock.release();
  t.equal((await deleted).status, 200);
  rejected(t, await asked, 404, 'post_not_found');
  rejected(t, await asking, 403, 'store_required');
  t.strictSame(await strandedRequests(app), []);
  t.equal(await countRows(app, "idempotency_keys WHERE key = 'leaving'"), 0);
});

t.test('a request in progress is withdrawn by the deletion of the account that it is sent to', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const ask = () => requestPartnership(app, sender, post);
  const [asked, deleted] = await inOrder(t, app, rowOf('posts', post), ask, () =>
    deleteAccount(app, receiver),
  );
  t.strictSame([asked.status, deleted.status], [201, 200]);
  t.strictSame(await notifiedOf(app, sender), [['withdrawn', asked.body.data.id, '취소됨']]);
});

t.test('a verification_token is void after the account of its address is deleted', async (t) => {
  const user = await signUpUser(app);
  const proof = await confirm({ email: user.email, code: await latestCode(app, user.email) }, user.token);
  await deleteAccount(app, user);
  const { verification_token } = proof.body.data;
  const response = await signUp(signUpBody({ email: user.email, verification_token }));
  rejected(t, response, 400, 'verification_token_invalid');
});

t.test('code and reset link of a deleted account are void, also for the next one', async (t) => {
  const user = await signUpUser(app);
  const { email, username } = user;
  const code = await latestCode(app, email);
  await verifyEmails(app, user);
  const link = await newResetLink(app, email);
  t.equal((await deleteAccount(app, user)).status, 200);
  for (const isTaken of [false, true]) {
    if (isTaken) await createUser(app, { email, username });
    rejected(t, await confirm({ email, code }), 400, 'invalid_code', { attempts_left: 0 });
    rejected(t, await validateReset(link), 400, 'reset_link_invalid');
    rejected(t, await confirmReset(link), 400, 'reset_link_invalid');
  }
  t.ok((await logIn(app, user)).token);
});

/** Addresses that the provider rejects, the first one late. */
const [leaving, rejecting, stranger] = ['leaving@example.com', 'owner@example.com', 'stranger@example.com'];
const { open: fail, opened: isDeleted } = gate();
const deliveries: string[] = [];
const deliver = async ({ to, subject }: OutgoingMail) => {
  deliveries.push(`${to} ${subject}`);
  if (to === leaving) await isDeleted;
  if ([leaving, rejecting, stranger].includes(to)) throw new MailRejectedError('no such address');
};
const withProvider = await createTestApp({}, { deliver });

t.test('failed emails are deleted with their account', async (t) => {
  const app = withProvider;
  const failedMails = async () =>
    (await app.pool.query<{ kind: string }>('SELECT kind FROM failed_mails')).rows.map(({ kind }) => kind);
  const late = await signUpUser(app, { email: leaving });
  await app.mails.next(leaving);
  t.equal((await deleteAccount(app, late)).status, 200);
  fail();
  await app.mails.settled();
  t.strictSame(await failedMails(), [], 'nor is one kept that fails after the deletion');

  const { post, changePassword } = accountsOf(app);
  const user = await signUpUser(app, { email: rejecting });
  const { token } = user;
  await app.mails.settled();
  await verifyEmails(app, user);
  await passTime(app, rejecting, 3600);
  for (const path of ['email-verify/send', 'reset-password-request', 'find-id'])
    await post(path, { email: rejecting });
  await app.mails.settled();
  await createStore(app, token);
  const { sender } = await openTwoShops(app);
  await requestPartnership(app, sender, await createPost(app, token));
  await changePassword(token, user.password);
  await post('email-verify/send', { email: stranger });
  await app.mails.settled();
  const codes = ['verification_code', 'verification_code', 'verification_code'];
  const kinds = ['partner_request_received', 'password_changed', 'reset_link', 'user_id', ...codes];
  t.strictSame((await failedMails()).sort(), kinds);
  t.equal((await deleteAccount(app, { token, password: newPassword })).status, 200);
  t.strictSame(await failedMails(), ['verification_code'], 'that of an address without an account');
});

t.test('a verified address gets an email that its account is deleted, as the last one', async (t) => {
  const app = withProvider;
  // The one about the account above.
  await app.mails.settled();
  const verified = 'verified@example.com';
  for (const [email, language, isVerified, expected] of [
    [verified, 'ko', true, [`${verified} [두레] 회원 탈퇴가 완료되었습니다`]],
    ['unverified@example.com', 'ko', false, []],
    [rejecting, 'en', true, [`${rejecting} Your Dure account was deleted`]],
  ] as const) {
    const user = await createUser(app, { email });
    deliveries.length = 0;
    if (isVerified) await verifyEmails(app, user);
    const body = { password: user.password };
    const headers = { 'accept-language': language };
    t.equal((await app.call('DELETE', '/auth/me/', { token: user.token, body, headers })).status, 200);
    await app.mails.settled();
    t.strictSame(deliveries, expected);
  }
  const failed = await countRows(app, "failed_mails WHERE kind = 'account_deleted'");
  t.equal(failed, 0, 'nor is it kept when it fails');
});

t.test('nothing of an account is left at rest after it was deleted', async (t) => {
  // No worker takes the queued emails, so that they can be looked through, too.
  const app = await createTestApp({ WORKER_ENABLED: 'false' });
  const username = 'keeper-owner';
  const email = 'keeper@example.com';
  const user = await signUpUser(app, { username, email });
  const { token, id } = user;
  await verifyEmails(app, user);
  // The names of the store and the post stay, for the other side of requests.
  await createStore(app, token, { description: username, address: username, business_hours: username });
  const images = [`https://cdn.example.com/${username}.jpg`];
  const content = await createPost(app, token, { content: username, images });
  await passTime(app, email, 3600);
  for (const path of ['reset-password-request', 'email-verify/send', 'find-id'])
    await accountsOf(app).post(path, { email });
  const key = { 'idempotency-key': 'a-post' };
  const body = { title: '제목', content: '내용', images: ['https://cdn.example.com/1.jpg'] };
  t.equal((await app.call('POST', '/api/v1/posts/', { token, headers: key, body })).status, 201);
  const tables = ['idempotency_keys', 'known_addresses', 'notification_counts', 'notifications', 'sessions'];
  const other = await openShop(app);
  for (const post of [content, await createPost(app, token)])
    t.equal((await requestPartnership(app, other, post, { 'idempotency-key': `${post.id}` })).status, 201);
  const { items } = await notificationsOf(app, user);
  t.equal((await notificationsIn(app).markRead(user, { ids: [items[0].id] })).status, 200);
  t.strictSame(await tablesWith(app, id), tables);
  t.equal((await deleteAccount(app, user)).status, 200);
  t.strictSame(await tablesWith(app, id), []);
  t.ok((await tablesWith(app, other.id)).includes('idempotency_keys'), 'what others have stays');
  const rows = (await everyRow(app))
    .split('\n')
    .filter((row) => row.includes(email) || row.includes(username));
  // The cooldowns and caps of the address outlive the account, as does a code, until it expires.
  const others = rows.filter((row) => !/mail_sends|email_codes/.test(row));
  t.strictSame(others, []);
});
