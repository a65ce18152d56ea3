import t, { type Test } from 'tap';
import { createListeningApp, openStream } from './notifications/streams.ts';
import { codeIn, signUpUser, type TestApp } from './support/app.ts';
import { createContract } from './support/contract.ts';
import { uploadImage } from './support/images.ts';

/** Two shops find each other, agree and call each other. */

const contract = createContract();
const app: TestApp = await createListeningApp({});

/** Sends a request as a shop. @returns the data of its response */
async function call(t: Test, { token }: { token: string }, method: string, path: string, body?: unknown) {
  const response = await app.call(method, path, { token, body });
  t.ok(response.body.success, `${method} ${path}: ${response.text}`);
  t.strictSame(contract.problems(method, path, response), [], `${method} ${path}: as documented`);
  return response.body.data;
}

/** Signs up the owner of a shop, who verifies the email address with the code from the email. */
async function signUp(t: Test, name: string) {
  const owner = await signUpUser(app, { name });
  const code = codeIn(await app.mails.next(owner.email));
  await call(t, owner, 'POST', '/auth/email-verify/confirm/', { email: owner.email, code });
  t.equal((await call(t, owner, 'GET', '/auth/me/')).is_verified, true);
  return owner;
}

t.test('two shops find each other, agree and call each other', async (t) => {
  const requests = '/api/v1/notifications/partner-request/';
  const minji = await signUp(t, '김민지');
  const jisu = await signUp(t, '박지수');

  // Both open a store. Minji looks for a partner.
  const { items: categories } = await call(t, minji, 'GET', '/api/v1/stores/categories/');
  const idOf = (name: string) => categories.find((category: { name: string }) => category.name === name).id;
  const cafe = await call(t, minji, 'POST', '/api/v1/stores/', {
    name: '달빛 카페',
    category_ids: [idOf('카페')],
    phone_number: '02 123 4567',
  });
  const bakery = await call(t, jisu, 'POST', '/api/v1/stores/', {
    name: '해님 빵집',
    category_ids: [idOf('베이커리')],
    phone_number: '010-9876-5432',
  });
  const image = await uploadImage(app, minji.token);
  const written = await call(t, minji, 'POST', '/api/v1/posts/', {
    title: '아침 빵을 함께 팔 가게를 찾아요',
    content: '갓 구운 빵을 커피와 함께 내고 싶습니다.',
    images: [image.url],
  });

  // Jisu finds the store by its name without the space, and the post by its category and a word, and asks. Minji is notified at once.
  const stream = await openStream(t, app, minji.token);
  const query = new URLSearchParams({ category_id: idOf('카페'), q: '갓 구운' });
  const { items: stores } = await call(t, jisu, 'GET', `/api/v1/stores/?q=${encodeURIComponent('달빛카페')}`);
  t.match(stores, [{ id: cafe.id, thumbnail: image.thumbnail_url }]);
  const { status, headers } = await app.call('GET', new URL(stores[0].thumbnail).pathname);
  t.match([status, headers['content-type']], [200, 'image/webp']);
  const { items: found } = await call(t, jisu, 'GET', `/api/v1/posts/?${query}`);
  t.match(found, [{ id: written.id, store: { id: cafe.id }, is_mine: false, my_request_status: null }]);
  const body = { post_id: written.id, message: '매일 아침 크루아상을 가져다드릴게요.' };
  const { id } = await call(t, jisu, 'POST', requests, body);
  await stream.until(() => stream.events.length === 3);
  t.match(stream.events[1]?.data, {
    kind: 'partner_request_received',
    partner_request: { id, status: '요청됨', sender_store_id: bakery.id, message: body.message },
  });
  t.match(stream.events[2]?.data, { unread_count: 1 });
  const asked = await app.mails.next(minji.email, 1);
  t.match(asked.text, `https://app.example.com/requests/${id}\n`);

  // The link leads to the request. There is no contact yet.
  const opened = await call(t, minji, 'GET', `${requests}${id}/`);
  t.match(opened, {
    box: 'received',
    post: { id: written.id },
    sender_store: { id: bakery.id },
    contact: null,
  });
  t.strictSame((await call(t, minji, 'GET', '/api/v1/stores/partners/')).items, []);

  // Minji accepts, and both see how to reach each other.
  t.equal((await call(t, minji, 'POST', `${requests}${id}/accept/`)).status, '수락됨');
  t.match((await app.mails.next(jisu.email, 1)).subject, '달빛 카페에서 제휴 요청을 수락했습니다');
  const contacts = {
    minji: { name: '김민지', email: minji.email, phone_number: '02-123-4567' },
    jisu: { name: '박지수', email: jisu.email, phone_number: '010-9876-5432' },
  };
  t.strictSame((await call(t, jisu, 'GET', `${requests}${id}/`)).contact, contacts.minji);
  t.strictSame((await call(t, minji, 'GET', `${requests}${id}/`)).contact, contacts.jisu);
  const partnersOf = (shop: { token: string }) => call(t, shop, 'GET', '/api/v1/stores/partners/');
  t.match(await partnersOf(jisu), {
    items: [{ store: { id: cafe.id }, contact: contacts.minji, request_id: id }],
  });
  t.match(await partnersOf(minji), {
    items: [{ store: { id: bakery.id }, contact: contacts.jisu, request_id: id }],
  });
  t.equal((await call(t, jisu, 'GET', `/api/v1/posts/${written.id}/`)).my_request_status, '수락됨');

  // Jisu ends it: Minji gets a notification and an email, and the contacts are gone.
  t.match(await call(t, jisu, 'POST', `${requests}${id}/end/`), { box: 'sent', status: '종료됨' });
  await stream.until(() => stream.events.length === 5);
  t.match(stream.events[3]?.data, {
    kind: 'partner_request_ended',
    partner_request: { id, status: '종료됨' },
  });
  t.match(stream.events[4]?.data, { unread_count: 2 });
  t.equal((await call(t, minji, 'GET', '/api/v1/notifications/unread-count/')).unread_count, 2);
  t.match((await app.mails.next(minji.email, 2)).subject, '해님 빵집에서 제휴를 종료했습니다');
  t.match((await call(t, jisu, 'GET', '/api/v1/stores/mypage/')).sent_requests, [{ id, status: '종료됨' }]);
  for (const shop of [minji, jisu]) {
    t.equal((await call(t, shop, 'GET', `${requests}${id}/`)).contact, null);
    t.strictSame((await partnersOf(shop)).items, []);
  }

  // Jisu may ask again.
  t.equal((await call(t, jisu, 'POST', requests, body)).status, '요청됨');
});
