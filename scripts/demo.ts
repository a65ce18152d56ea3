import process from 'node:process';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import sharp from 'sharp';
import { buildApp } from '../src/app.ts';
import { runScript, withMigratedDatabase } from './open-database.ts';

/*
 * npm run demo
 *
 * Creates a small neighbourhood through the API, so that Swagger UI and the example frontend have something to show: stores of
 * many kinds, posts with and without images, and a request in each state.
 */

const password = 'gimbap-and-coffee-7';

/** Two colours and how many circles: a drawing that stands for a photograph. */
interface Drawing {
  from: string;
  to: string;
  circles: number;
}

interface Shop {
  username: string;
  owner: string;
  store: Record<string, unknown> & { name: string; categories: string[] };
  posts: { title: string; content: string; drawing?: Drawing }[];
}

const shops: Shop[] = [
  {
    username: 'dure_cafe',
    owner: '김두레',
    store: {
      name: '두레 카페',
      categories: ['카페', '베이커리'],
      description: '망원동 골목의 작은 카페입니다.\n아침마다 스콘을 굽습니다.',
      address: '서울 마포구 망원동 12-3',
      phone_number: '02-123-4567',
      business_hours: '매일 09:00-21:00',
    },
    posts: [
      {
        title: '꽃집과 함께 어버이날 세트를 만들고 싶습니다',
        content: '꽃다발과 케이크를 묶어 함께 팔 이웃 꽃집을 찾습니다.',
        drawing: { from: '#f7d9c4', to: '#b5542f', circles: 5 },
      },
      {
        title: '동네 서점과 함께하는 낭독회',
        content: '목요일 저녁에 자리를 내어 드립니다. 커피는 저희가 준비하겠습니다.',
      },
    ],
  },
  {
    username: 'golmok_flower',
    owner: '이꽃님',
    store: {
      name: '골목 꽃집',
      categories: ['꽃·식물'],
      description: '계절 꽃과 작은 화분이 있습니다.',
      address: '서울 마포구 망원동 45-6',
      phone_number: '010-2345-6789',
      business_hours: '화-일 10:00-19:00',
    },
    posts: [
      {
        title: '가게에 놓을 꽃을 맡겨 주세요',
        content: '매주 새 꽃으로 바꿔 드립니다. 서로의 손님께 쿠폰도 나눠 드리면 좋겠습니다.',
        drawing: { from: '#f8d3e0', to: '#2f7d4f', circles: 9 },
      },
    ],
  },
  {
    username: 'neutinamu_books',
    owner: '박책방',
    store: {
      name: '느티나무 책방',
      categories: ['서점·문구', '문화·여가'],
      description: '어린이책과 그림책을 고릅니다.',
      address: '서울 마포구 성산동 7-8',
    },
    posts: [
      {
        title: '카페에 작은 서가를 놓고 싶습니다',
        content: '책 서른 권을 빌려 드리고 판매 수익은 함께 나누고 싶습니다.',
      },
    ],
  },
  {
    username: 'haessal_pilates',
    owner: '최햇살',
    store: {
      name: '햇살 필라테스',
      categories: ['건강·운동'],
      address: '서울 마포구 서교동 9',
      phone_number: '010-1234-5678',
    },
    posts: [
      {
        title: '건강한 점심 메뉴를 함께 만들 식당을 찾습니다',
        content: '회원 120명에게 소개해 드리겠습니다.',
      },
    ],
  },
];

async function demo(app: FastifyInstance, pool: pg.Pool): Promise<void> {
  const tokens = new Map<string, string>();
  const categories = await request(app, 'GET', '/api/v1/stores/categories/');
  const categoryIds = new Map(
    categories.items.map(({ id, name }: { id: number; name: string }) => [name, id]),
  );
  const postIds = new Map<string, number>();

  for (const { username, owner, store, posts: wishes } of shops) {
    await request(app, 'POST', '/auth/signup/', {
      body: { username, password, name: owner, email: `${username}@example.com` },
    });
    await pool.query('UPDATE users SET is_verified = true WHERE username = $1', [username]);
    const { access } = await request(app, 'POST', '/auth/login/', { body: { username, password } });
    tokens.set(username, access);
    const { categories: names, ...fields } = store;
    const body = { ...fields, category_ids: names.map((name) => categoryIds.get(name)) };
    await request(app, 'POST', '/api/v1/stores/', { token: access, body });
    for (const wish of wishes) {
      const { drawing, ...fields } = wish;
      const images = drawing ? [await uploadImage(app, access, drawing)] : [];
      const post = await request(app, 'POST', '/api/v1/posts/', {
        token: access,
        body: { ...fields, images },
      });
      postIds.set(wish.title, post.id);
    }
  }

  const ask = async (sender: string, title: string, message: string) => {
    const body = { post_id: postIds.get(title), message };
    return request(app, 'POST', '/api/v1/notifications/partner-request/', {
      token: tokens.get(sender),
      body,
    });
  };
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
  const lunch = await ask(
    'dure_cafe',
    '건강한 점심 메뉴를 함께 만들 식당을 찾습니다',
    '샐러드 도시락을 준비해 보겠습니다.',
  );
  const menu = await ask(
    'golmok_flower',
    '건강한 점심 메뉴를 함께 만들 식당을 찾습니다',
    '식용 꽃을 올린 메뉴는 어떨까요?',
  );
  const change = (shop: string, action: string, { id }: { id: number }) =>
    request(app, 'POST', `/api/v1/notifications/partner-request/${id}/${action}/`, {
      token: tokens.get(shop),
    });
  await change('dure_cafe', 'accept', first);
  await change('dure_cafe', 'accept', reading);
  await change('neutinamu_books', 'end', reading);
  await change('golmok_flower', 'decline', flowers);
  await change('haessal_pilates', 'accept', lunch);
  await change('golmok_flower', 'withdraw', menu);
  await request(app, 'PATCH', '/api/v1/notifications/preferences/', {
    token: tokens.get('haessal_pilates'),
    body: { language: 'en', email: { partner_request_ended: false } },
  });
}

/** @returns the URL of the image */
async function uploadImage(
  app: FastifyInstance,
  token: string,
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
  return (await request(app, 'POST', '/api/v1/images/', { token, body })).url;
}

async function request(
  app: FastifyInstance,
  method: 'GET' | 'POST' | 'PATCH',
  url: string,
  { token, body }: { token?: string | undefined; body?: object } = {},
) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await app.inject({ method, url, headers, ...(body ? { payload: body } : {}) });
  const envelope = response.json();
  if (envelope.data.code === 'username_taken')
    throw new Error('the demo data or that of the tour exists already: delete .data to start over');
  if (!envelope.success) throw new Error(`${method} ${url}: ${response.body}`);
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
