import { createUnsubscribeLinks } from '../../src/domains/notifications/preferences/routes.ts';
import { streamPath } from '../notifications/streams.ts';
import { savedSearchesIn } from '../saved-searches/searching.ts';
import { addFailedMail, createAdmin } from '../support/admin.ts';
import { logIn, password, type TestApp } from '../support/app.ts';
import { multipart, multipartType, plainImage } from '../support/images.ts';
import { requestsPath } from '../support/partner-requests.ts';
import { until } from '../support/until.ts';
import type { Show } from './recorder.ts';

const browser = { 'user-agent': 'Mozilla/5.0 (Linux; Android 16)' };

interface Shops {
  /** The access token of the bakery, which asks for partnerships. */
  bakery: string;
  /** That of the café, which writes posts. */
  cafe: string;
}

/** Two shops register, and one writes posts. */
export async function shopStory(
  app: TestApp,
  show: Show,
  bakery: string,
): Promise<Shops & { posts: number[] }> {
  await show('GET', '/api/v1/stores/categories/');
  const store = {
    name: '두레 베이커리',
    category_ids: [3, 1],
    description: '천연 발효종으로 매일 굽는 동네 빵집입니다.',
    address: '서울 마포구 망원동 1-2',
    phone_number: '02-123-4567',
    business_hours: '매일 09:00-19:00',
    location: { latitude: 37.556123, longitude: 126.910456 },
  };
  await show('POST', '/api/v1/stores/', { token: bakery, body: store });
  await show('GET', '/api/v1/stores/me/', { token: bakery });
  await show('PATCH', '/api/v1/stores/me/', {
    token: bakery,
    body: { business_hours: '화-일 09:00-19:00, 월 휴무' },
  });

  const account = { username: 'sunny_cafe', password, name: '이햇살', email: 'sunny@example.com' };
  await app.call('POST', '/auth/signup/', { body: account });
  const { token: cafe } = await logIn(app, account);
  const body = { name: '햇살카페', category_ids: [1], address: '서울 마포구 망원동 3-4' };
  const opened = await app.call('POST', '/api/v1/stores/', { token: cafe, body });
  const image = multipart({ name: 'image', content: await plainImage(1200, 900), filename: 'photo.jpg' });
  const upload = { token: cafe, body: image, headers: multipartType };
  const { id } = (await show('POST', '/api/v1/images/', upload)).body.data;
  await show('DELETE', `/api/v1/images/${id}/`, { token: cafe });

  const post = {
    title: '주말 공동 할인 함께하실 가게를 찾아요',
    content: '토요일마다 서로의 가게를 소개하고 함께 할인합니다.',
    images: ['https://cdn.example.com/popup.jpg'],
  };
  const first = (await show('POST', '/api/v1/posts/', { token: cafe, body: post })).body.data.id;
  const title = '매주 토요일 공동 할인 함께하실 가게를 찾아요';
  await show('PATCH', `/api/v1/posts/${first}/`, { token: cafe, body: { title } });
  await show('PATCH', `/api/v1/posts/${first}/`, { token: bakery, body: { title }, code: 'forbidden' });
  await show('GET', '/api/v1/posts/', { token: bakery });
  await show('GET', '/api/v1/stores/', { token: bakery });
  await show('GET', `/api/v1/stores/${opened.body.data.id}/`, { token: bakery });
  const posts = [first];
  for (const title of ['여름 팝업 매장을 같이 열어요', '원두 공동 구매', '골목 지도를 만들어요']) {
    const others = { title, content: '관심 있는 가게는 연락 주세요.' };
    posts.push((await app.call('POST', '/api/v1/posts/', { token: cafe, body: others })).body.data.id);
  }
  await show('DELETE', `/api/v1/posts/${posts[3]}/`, { token: cafe });
  const own = { title: '빵을 팔아 주실 카페를 찾아요', content: '매일 아침 배달해 드립니다.' };
  await app.call('POST', '/api/v1/posts/', { token: bakery, body: own });
  await show('POST', `/api/v1/stores/${opened.body.data.id}/report/`, {
    token: bakery,
    body: { reason: 'fraud', text: '주소에 가게가 없습니다.' },
  });
  return { bakery, cafe, posts };
}

/** Requests are sent, withdrawn, declined, accepted and ended. @returns the first events of the stream of the receiver */
export async function requestStory(
  app: TestApp,
  show: Show,
  { bakery, cafe, posts }: Shops & { posts: number[] },
): Promise<string> {
  const message = '저희 빵을 카페에서 함께 팔아 보시겠어요?';
  const token = bakery;
  const send = { token, body: { post_id: posts[0], message } };
  const request = (await show('POST', requestsPath, send)).body.data.id;
  await show('GET', `/api/v1/posts/${posts[0]}/`, { token });
  await show('GET', `${requestsPath}?box=sent`, { token, name: 'sent' });
  await show('GET', requestsPath, { token: cafe, name: 'received' });
  await show('GET', '/api/v1/stores/mypage/', { token });
  await show('GET', '/api/v1/notifications/mypage/', { token: cafe, name: 'partnership' });
  await show('GET', '/api/v1/notifications/unread-count/', { token: cafe });
  const events = await readEvents(app, cafe);
  await show('POST', `${requestsPath}${request}/accept/`, { token: cafe });
  await show('GET', `${requestsPath}${request}/`, { token, name: 'sent' });
  await show('GET', `${requestsPath}${request}/`, { token: cafe, name: 'received' });
  await show('GET', '/api/v1/stores/partners/', { token });
  await show('POST', `${requestsPath}${request}/end/`, { token });
  for (const [index, action, actor] of [
    [1, 'decline', cafe],
    [2, 'withdraw', bakery],
  ] as const) {
    const sent = await app.call('POST', requestsPath, { token, body: { post_id: posts[index], message } });
    await show('POST', `${requestsPath}${sent.body.data.id}/${action}/`, { token: actor });
  }
  const all = (await app.call('GET', '/api/v1/notifications/mypage/', { token: cafe })).body.data.items;
  const ids = all.slice(0, 2).map(({ id }: { id: number }) => id);
  const path = '/api/v1/notifications/mark-read/';
  await show('POST', path, { token: cafe, body: { ids }, name: 'ids' });
  await show('POST', path, { token: cafe, body: { up_to_id: ids[0] }, name: 'up_to_id' });
  return events;
}

/** The stream of a user with one notification that was missed. */
async function readEvents({ app }: TestApp, token: string): Promise<string> {
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Bearer ${token}`, 'last-event-id': '0' };
  const { body } = await fetch(`${origin}${streamPath}`, { headers });
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (/^event: notification\n.*\n\n/m.test(text)) break;
  }
  // Later events depend on when they are read.
  return text.slice(0, text.indexOf('\n\n', text.indexOf('event: notification')) + 2);
}

/** What a shop is notified of, and how. */
export async function notificationStory(app: TestApp, show: Show, { bakery, cafe }: Shops): Promise<void> {
  const token = bakery;
  const push = '/api/v1/notifications/push/';
  await show('GET', `${push}key/`, { token });
  const subscription = {
    endpoint: 'https://fcm.googleapis.com/fcm/send/Zm9yIGV4YW1wbGUgb25seQ',
    expirationTime: null,
    keys: {
      p256dh: 'BOHVsfl9bw-z8r9npRvnXJJcSBejzlal85V2fu385pixaMQ0CNfvUweM2kg22mSjA7WSYcA0vf5QO2ze2Ptw72o',
      auth: 'Zm9yIGV4YW1wbGUgb25seQ',
    },
  };
  const subscribe = { token, body: subscription, headers: browser };
  const { id } = (await show('POST', `${push}subscriptions/`, { ...subscribe, name: 'created' })).body.data;
  await show('POST', `${push}subscriptions/`, { ...subscribe, name: 'ok' });
  await show('GET', `${push}subscriptions/`, { token });
  await show('DELETE', `${push}subscriptions/${id}/`, { token });

  const preferences = '/api/v1/notifications/preferences/';
  const changes = { email: { saved_search_match: true }, quiet_hours: { from: '22:00', to: '07:30' } };
  await show('PATCH', preferences, { token, body: changes });
  await show('GET', preferences, { token });
  const { url } = createUnsubscribeLinks(app.config);
  const { id: userId } = (await app.call('GET', '/auth/me/', { token })).body.data;
  const link = new URL(url({ userId, topic: 'saved_search_match' }));
  await show('POST', `/api/v1/notifications/unsubscribe/${link.search}`);

  const older = (await app.call('GET', '/api/v1/notifications/mypage/', { token })).body.data.items;
  const read = { token, body: { up_to_id: older[0].id } };
  await app.call('POST', '/api/v1/notifications/mark-read/', read);
  const search = { name: '망원동 카페', category_id: 1, region: '망원동' };
  const saved = (await show('POST', '/api/v1/saved-searches/', { token, body: search })).body.data;
  await show('GET', '/api/v1/saved-searches/', { token });
  const post = { title: '봄 소풍 도시락을 같이 만들어요', content: '빵을 구워 주실 가게를 찾습니다.' };
  await app.call('POST', '/api/v1/posts/', { token: cafe, body: post });
  const path = '/api/v1/notifications/mypage/?is_read=false';
  await until('the match of the search', async () => {
    const { items } = (await app.call('GET', path, { token })).body.data;
    return items[0]?.kind === 'saved_search_match';
  });
  const match = (await show('GET', path, { token, name: 'match' })).body.data.items[0];
  await app.call('POST', '/api/v1/notifications/mark-read/', { token, body: { ids: [match.id] } });
  const { matched, pinDay, run } = savedSearchesIn(app);
  await pinDay(userId, 20);
  for (const title of ['가을 빵 축제', '겨울 간식 꾸러미']) {
    await app.call('POST', '/api/v1/posts/', { token: cafe, body: { ...post, title } });
  }
  await matched();
  await run('send_saved_search_digests');
  await show('GET', path, { token, name: 'digest' });
  await show('DELETE', `/api/v1/saved-searches/${saved.id}/`, { token });
}

/** Somebody reports a post, and an admin decides. */
export async function adminStory(app: TestApp, show: Show, { bakery, posts }: Shops & { posts: number[] }) {
  const report = { reason: 'spam', text: '같은 글을 여러 번 올립니다.' };
  await show('POST', `/api/v1/posts/${posts[1]}/report/`, { token: bakery, body: report });
  const { token } = await createAdmin(app, { username: 'dure_admin', email: 'admin@example.com' });
  const { items } = (await show('GET', '/api/v1/admin/reports/', { token })).body.data;
  const note = '글을 숨겼습니다.';
  const close = { token, body: { action: 'hide', note } };
  await show('POST', `/api/v1/admin/reports/${items[0].id}/close/`, close);

  const found = (await show('GET', '/api/v1/admin/users/?q=sunny', { token })).body.data;
  const path = `/api/v1/admin/users/${found.items[0].id}/`;
  await show('GET', path, { token });
  await show('DELETE', `${path}sessions/`, { token });
  await show('POST', `${path}suspend/`, { token, body: { reason: '광고 글을 반복해서 올렸습니다.' } });
  await show('POST', `${path}reactivate/`, { token });
  await show('DELETE', `${path}second-factor/`, { token });
  const mail = await addFailedMail(app, found.items[0]);
  await show('GET', '/api/v1/admin/failed-mails/', { token });
  await show('POST', `/api/v1/admin/failed-mails/${mail}/retry/`, { token });
}

/** What programs ask for. */
export async function systemStory(show: Show): Promise<void> {
  await show('GET', '/health/live');
  await show('GET', '/health/ready');
  await show('GET', '/.well-known/jwks.json');
  await show('GET', '/.well-known/openid-configuration');
}
