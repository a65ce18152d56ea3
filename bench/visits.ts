/** One step of the load after the other, as users would take them. */

/** A shop, with the session of its owner. */
export interface Shop {
  username: string;
  access: string;
  refresh: string;
  postId: number;
}

type Fields = Record<string, unknown>;

const password = 'gimbap-and-coffee-7';
const requests = '/api/v1/notifications/partner-request/';

/** Sends one request and reads its response to the end. */
async function call(url: string, method: string, path: string, token?: string, body?: Fields) {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, data: text.startsWith('{') ? JSON.parse(text).data : undefined };
}

/** Opens an account with a store and a post. @throws when the service rejects */
export async function createShop(url: string, index: number): Promise<Shop> {
  const username = `soak${index}`;
  const account = { username, password, name: '김두레', email: `${username}@example.com` };
  await call(url, 'POST', '/auth/signup/', undefined, account);
  const login = await call(url, 'POST', '/auth/login/', undefined, { username, password });
  const { access, refresh } = login.data;
  await call(url, 'POST', '/api/v1/stores/', access, { name: `두레 ${index}`, category_ids: [1] });
  const post = await call(url, 'POST', '/api/v1/posts/', access, {
    title: '같이 팝업 열 가게를 찾아요',
    content: '주말 이틀 동안 함께할 이웃 가게를 찾습니다.',
    images: ['https://cdn.example.com/popup.jpg'],
  });
  return { username, access, refresh, postId: post.data.id };
}

type Visit = (url: string, shop: Shop, other: Shop) => Promise<number>;

const read =
  (path: string): Visit =>
  async (url, { access }) =>
    (await call(url, 'GET', path, access)).status;

/** Once round is one of each, so the load is the same at any time. */
const visits: Visit[] = [
  read('/api/v1/posts/'),
  read('/api/v1/stores/?q=두레'),
  read('/auth/me/'),
  read('/api/v1/notifications/mypage/'),
  async (url, { access, postId }) => (await call(url, 'GET', `/api/v1/posts/${postId}/`, access)).status,
  read('/api/v1/stores/categories/'),
  async (url, { access, postId }) => {
    const title = `같이 팝업 열 가게를 찾아요 ${postId}`;
    return (await call(url, 'PATCH', `/api/v1/posts/${postId}/`, access, { title })).status;
  },
  read('/api/v1/stores/mypage/'),
  async (url, { access }, { postId }) => {
    const sent = await call(url, 'POST', requests, access, { post_id: postId, message: '함께 해요!' });
    if (sent.status !== 201) return sent.status;
    return (await call(url, 'POST', `${requests}${sent.data.id}/withdraw/`, access)).status;
  },
  read('/api/v1/posts/?limit=0x10'),
  read('/nowhere/'),
  async (url, shop) => {
    const { refresh } = shop;
    const refreshed = await call(url, 'POST', '/auth/token/refresh/', undefined, { refresh });
    if (refreshed.status === 200) Object.assign(shop, refreshed.data);
    return refreshed.status;
  },
  async (url, { username }) => {
    const login = await call(url, 'POST', '/auth/login/', undefined, { username, password });
    if (login.status !== 200) return login.status;
    return (await call(url, 'POST', '/auth/logout/', login.data.access)).status;
  },
  async (url, { access }) => {
    const stream = await fetch(`${url}/api/v1/notifications/stream/`, {
      headers: { authorization: `Bearer ${access}` },
    });
    const reader = stream.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    return stream.status;
  },
];

/** The next thing that somebody does. @returns the status of its last response */
export async function visit(url: string, turn: number, shops: Shop[]): Promise<number> {
  const round = Math.floor(turn / visits.length);
  const [shop, other] = [shops[round % shops.length], shops[(round + 1) % shops.length]];
  const next = visits[turn % visits.length];
  if (!shop || !other || !next) throw new Error('there are no shops');
  return next(url, shop, other);
}
