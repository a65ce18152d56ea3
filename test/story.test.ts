import t, { type Test } from 'tap';
import { createListeningApp, openStream } from './notifications/streams.ts';
import { pushesOf } from './push/subscribed.ts';
import { codeIn, signUpUser, type TestApp } from './support/app.ts';
import { uploadImage } from './support/images.ts';

/** Two shops find each other, agree and call each other; a third one moves in and is found. */

const terms = { TERMS_VERSION: '2026-01-31', TERMS_URL: 'https://dure.example/terms' };
const app: TestApp = await createListeningApp(terms);

/** Sends a request as a shop. @returns the data of its response */
async function call(t: Test, { token }: { token?: string }, method: string, path: string, body?: unknown) {
  const response = await app.call(method, path, { token, body });
  t.ok(response.body.success, `${method} ${path}: ${response.text}`);
  return response.body.data;
}

/** Signs up the owner of a shop, who agrees to the terms and verifies the email address with the code from the email. */
async function signUp(t: Test, name: string) {
  const { items } = await call(t, {}, 'GET', '/auth/consents/');
  const consents = { terms: items[0].version, is_14_or_older: true };
  const owner = await signUpUser(app, { name, consents });
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

t.test(
  'a florist moves in, the cafe around the corner finds it, and both get a push at the right hour',
  async (t) => {
    const pushes = await pushesOf(t, app);
    const preferences = '/api/v1/notifications/preferences/';
    const cafe = await signUp(t, '최은우');
    const florist = await signUp(t, '이꽃님');
    const [cafePhone, floristPhone] = [await pushes.subscribe(cafe), await pushes.subscribe(florist)];
    const { items: categories } = await call(t, cafe, 'GET', '/api/v1/stores/categories/');
    const idOf = (name: string) => categories.find((category: { name: string }) => category.name === name).id;
    await call(t, cafe, 'POST', '/api/v1/stores/', { name: '모퉁이 카페', category_ids: [idOf('카페')] });

    // The cafe saves a search for florists within a kilometre. One opens around the corner, and looks for a cafe.
    const near = '37.5563,126.9019';
    const search = { category_id: idOf('꽃·식물'), near, radius_m: 1_000 };
    const saved = await call(t, cafe, 'POST', '/api/v1/saved-searches/', { name: '이웃 꽃집', ...search });
    const opened = await call(t, florist, 'POST', '/api/v1/stores/', {
      name: '골목 꽃집',
      category_ids: [idOf('꽃·식물')],
      address: '서울시 마포구 망원동 57-1',
      location: { latitude: 37.559218, longitude: 126.90187 },
    });
    t.match(opened.region, { sido: '서울', sigungu: '마포구', dong: '망원동' });
    const post = await call(t, florist, 'POST', '/api/v1/posts/', {
      title: '봄꽃을 함께 팔 카페를 찾습니다',
      content: '우리 꽃과 커피를 함께 내어요.',
      closes_on: '2099-12-31',
    });

    // The cafe gets a push message, which leads to the post, and sees how far it is, and no more than that.
    const { message } = await cafePhone.next();
    t.match(message, {
      kind: 'saved_search_match',
      title: '저장한 검색에 맞는 새 글',
      body: /^골목 꽃집에서 .*봄꽃을/,
      url: `https://app.example.com/posts/${post.id}`,
    });
    const { items: notifications } = await call(t, cafe, 'GET', '/api/v1/notifications/mypage/');
    t.match(notifications, [
      { id: message.id, post: { id: post.id }, store: { id: opened.id }, saved_search_id: saved.id },
    ]);
    const { items: found } = await call(t, cafe, 'GET', `/api/v1/posts/?near=${near}&region=망원동`);
    t.match(found, [{ id: post.id, status: 'open', closes_on: '2099-12-31', distance_m: 300 }]);
    const { location } = await call(t, cafe, 'GET', `/api/v1/stores/${opened.id}/`);
    t.strictSame(location, { latitude: 37.559, longitude: 126.902 });

    // It asks. The florist has quiet hours, and gets the push message when they end.
    await call(t, florist, 'PATCH', preferences, { quiet_hours: aroundNow() });
    const body = { post_id: post.id, message: '저희 카페에서 함께 팔아요.' };
    const { id } = await call(t, cafe, 'POST', '/api/v1/notifications/partner-request/', body);
    t.match(await pushes.settled(), [{ payload: { user_id: florist.id } }]);
    t.equal(floristPhone.attempts, 0);
    await call(t, florist, 'PATCH', preferences, { quiet_hours: null });
    await pushes.makeDue();
    const { message: asked } = await floristPhone.next();
    t.match(asked, { kind: 'partner_request_received', url: `https://app.example.com/requests/${id}` });

    // The post is closed: it is in no list of open ones, and takes no more requests.
    await call(t, florist, 'PATCH', `/api/v1/posts/${post.id}/`, { status: 'closed' });
    t.strictSame((await call(t, cafe, 'GET', `/api/v1/posts/?near=${near}`)).items, []);
    await call(t, cafe, 'POST', `/api/v1/notifications/partner-request/${id}/withdraw/`);
    const late = await app.call('POST', '/api/v1/notifications/partner-request/', {
      token: cafe.token,
      body,
    });
    t.match([late.status, late.body.data.code], [409, 'post_closed']);
  },
);

/** Quiet hours from and to an hour from now, in Korea. */
function aroundNow() {
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  return { from: inHours(9 - 1), to: inHours(9 + 1) };
}
