import process from 'node:process';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import sharp from 'sharp';
import { buildApp } from '../src/app.ts';
import { type Drawing, shops } from './demo/shops.ts';
import { runScript, withMigratedDatabase } from './open-database.ts';

/*
 * npm run demo
 *
 * Creates a small neighbourhood through the API, so that Swagger UI and the example frontend have something to show: stores near
 * each other and one elsewhere, posts with and without images and a last day, one of them closed, saved searches with matches, a
 * request in each state, and preferences.
 */

const password = 'gimbap-and-coffee-7';

async function demo(app: FastifyInstance, pool: pg.Pool): Promise<void> {
  const tokens = new Map<string, string>();
  const postIds = new Map<string, number>();
  /** A request of a shop. */
  const send = (shop: string, operation: string, body?: object) =>
    request(app, operation, { token: tokens.get(shop), body });

  const categories = await request(app, 'GET /api/v1/stores/categories/');
  const categoryIds = new Map(
    categories.items.map(({ id, name }: { id: number; name: string }) => [name, id]),
  );
  const consents = await consentsToAll(app);
  for (const { username, owner, store, searches = [] } of shops) {
    const account = { username, password, name: owner, email: `${username}@example.com` };
    await request(app, 'POST /auth/signup/', { body: { ...account, ...consents } });
    await pool.query('UPDATE users SET is_verified = true WHERE username = $1', [username]);
    const { access } = await request(app, 'POST /auth/login/', { body: { username, password } });
    tokens.set(username, access);
    const { categories: names, ...fields } = store;
    const category_ids = names.map((name) => categoryIds.get(name));
    await send(username, 'POST /api/v1/stores/', { ...fields, category_ids });
    for (const search of searches) await send(username, 'POST /api/v1/saved-searches/', search);
  }
  for (const { username, posts } of shops) {
    for (const { drawing, closesIn, ...fields } of posts) {
      const images = drawing ? [await uploadImage(app, tokens.get(username), drawing)] : [];
      const closes_on = closesIn === undefined ? null : dayInKorea(closesIn);
      const post = await send(username, 'POST /api/v1/posts/', { ...fields, images, closes_on });
      postIds.set(fields.title, post.id);
    }
  }

  const ask = (sender: string, title: string, message: string) =>
    send(sender, 'POST /api/v1/notifications/partner-request/', { post_id: postIds.get(title), message });
  const lunchMenu = '건강한 점심 메뉴를 함께 만들 식당을 찾습니다';
  const first = await ask(
    'golmok_flower',
    '꽃집과 함께 어버이날 세트를 만들고 싶습니다',
    '저희 꽃으로 함께 만들고 싶습니다.\n이번 주에 한번 들러도 될까요?',
  );
  const reading = await ask('neutinamu_books', '동네 서점과 함께하는 낭독회', '낭독회를 함께 열고 싶습니다.');
  await ask('dure_cafe', '카페에 작은 서가를 놓고 싶습니다', '창가에 서가를 놓을 자리가 있습니다.');
  const flowers = await ask(
    'haessal_pilates',
    '가게에 놓을 꽃을 맡겨 주세요',
    '저희 접수대에도 꽃을 놓고 싶습니다.',
  );
  const lunch = await ask('dure_cafe', lunchMenu, '샐러드 도시락을 준비해 보겠습니다.');
  const menu = await ask('golmok_flower', lunchMenu, '식용 꽃을 올린 메뉴는 어떨까요?');
  const change = (shop: string, action: string, { id }: { id: number }) =>
    send(shop, `POST /api/v1/notifications/partner-request/${id}/${action}/`);
  await change('dure_cafe', 'accept', first);
  await change('dure_cafe', 'accept', reading);
  await change('neutinamu_books', 'end', reading);
  await send('dure_cafe', `PATCH /api/v1/posts/${reading.post_id}/`, { status: 'closed' });
  await change('golmok_flower', 'decline', flowers);
  await change('haessal_pilates', 'accept', lunch);
  await change('golmok_flower', 'withdraw', menu);
  await send('haessal_pilates', 'PATCH /api/v1/notifications/preferences/', {
    language: 'en',
    email: { partner_request_ended: false },
    quiet_hours: { from: '22:00', to: '07:30' },
  });
}

/** What a sign-up needs where the service has terms: agreement to all of it. */
async function consentsToAll(app: FastifyInstance): Promise<object> {
  const { items } = await request(app, 'GET /auth/consents/');
  if (items.length === 0) return {};
  const given = items.map(({ id, version }: { id: string; version: string }) => [
    id,
    id === 'marketing' ? true : version,
  ]);
  return { consents: { ...Object.fromEntries(given), is_14_or_older: true } };
}

/** @param distance days from today */
function dayInKorea(distance: number): string {
  return new Date(Date.now() + (9 + 24 * distance) * 3_600_000).toISOString().slice(0, 10);
}

/** @returns the URL of the image */
async function uploadImage(
  app: FastifyInstance,
  token: string | undefined,
  { from, to, circles }: Drawing,
): Promise<string> {
  const places = Array.from({ length: circles }, (_, index) => (index + 0.5) / circles);
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="800">
    <defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient></defs>
    <rect width="1200" height="800" fill="url(#sky)"/>
    ${places.map((place) => `<circle cx="${place * 1200}" cy="${420 + 220 * Math.sin(place * 9)}" r="${420 / circles + 60}" fill="#fff" fill-opacity="0.35"/>`).join('')}
  </svg>`;
  const photograph = await sharp(Buffer.from(drawing)).jpeg().toBuffer();
  const body = new FormData();
  body.append('image', new Blob([photograph], { type: 'image/jpeg' }), 'image.jpg');
  return (await request(app, 'POST /api/v1/images/', { token, body })).url;
}

/** @param operation as `GET /auth/me/` */
async function request(
  app: FastifyInstance,
  operation: string,
  { token, body }: { token?: string | undefined; body?: object | undefined } = {},
) {
  const method = (['POST', 'PATCH'] as const).find((one) => operation.startsWith(one)) ?? 'GET';
  const url = operation.slice(method.length + 1);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await app.inject({ method, url, headers, ...(body && { payload: body }) });
  const envelope = response.json();
  if (envelope.data.code === 'username_taken')
    throw new Error('the demo data or that of the tour exists already: delete .data to start over');
  if (!envelope.success) throw new Error(`${operation}: ${response.body}`);
  return envelope.data;
}

await runScript(() =>
  withMigratedDatabase(async (config) => {
    const app = await buildApp(config);
    const pool = new pg.Pool({ connectionString: config.database.directUrl, max: 1 });
    try {
      await app.ready();
      await demo(app, pool);
      const names = shops.map(({ username }) => username).join(', ');
      process.stdout.write(
        `Created ${shops.length} shops. Log in as ${names}; the password is ${password}\n`,
      );
    } finally {
      await pool.end();
      await app.close();
    }
  }),
);
