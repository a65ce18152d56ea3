import t, { type Test } from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid } from '../support/assertions.ts';
import { createPost, createStore } from '../support/stores.ts';

const path = '/api/v1/posts/';
const app = await createTestApp();
t.teardown(app.close);
const { call } = app;
const { token } = await createUser(app);
await createStore(app, token);
const post = await createPost(app, token);
const image = 'https://cdn.example.com/1.jpg';
const valid = { title: '글', content: '내용', images: [image] };

/** Asserts that both writing and changing a post are refused, and for what. */
async function refusesFields(test: Test, fields: Record<string, unknown>, ...names: string[]) {
  invalid(test, await call('POST', path, { token, body: { ...valid, ...fields } }), ...names);
  invalid(test, await call('PATCH', `${path}${post.id}/`, { token, body: fields }), ...names);
}

t.test('what is wrong with a field is named', async (t) => {
  const wrong: [fields: Record<string, unknown>, ...names: string[]][] = [
    [{ title: '' }, 'title'],
    [{ title: ' \u3164 ' }, 'title'],
    [{ title: '가'.repeat(101) }, 'title'],
    [{ title: '두\n줄' }, 'title'],
    [{ title: 1 }, 'title'],
    [{ content: '' }, 'content'],
    [{ content: 'a'.repeat(5001) }, 'content'],
    [{ content: '종\u0007' }, 'content'],
    [{ content: '\udc00' }, 'content'],
    [{ images: [] }, 'images'],
    [{ images: Array.from({ length: 11 }, () => image) }, 'images'],
    [{ images: image }, 'images'],
    [{ images: [image, ''] }, '/images/1'],
    [{ images: [image, 7] }, '/images/1'],
    [{ images: [null] }, '/images/0'],
    [{ thumbnail: image }, 'thumbnail'],
    [{ store_id: 1 }, 'store_id'],
  ];
  for (const [fields, ...names] of wrong) await refusesFields(t, fields, ...names);
  invalid(t, await call('POST', path, { token, body: {} }), 'title', 'content', 'images');
  invalid(t, await call('PATCH', `${path}${post.id}/`, { token, body: {} }), 'body');
});

t.test('images that are no absolute URLs are named by their JSON pointer', async (t) => {
  const wrong = [
    ...[
      'image.jpg',
      '/image.jpg',
      '//cdn.example.com/1.jpg',
      'cdn.example.com/1.jpg',
      'https:cdn.example.com/1.jpg',
    ],
    ...[
      'ftp://cdn.example.com/1.jpg',
      'javascript:alert(1)',
      'data:image/png;base64,AAAA',
      'blob:https://a.example/1',
    ],
    ...['https://', 'https:///1.jpg', 'https://?x', 'https://a.example:99999/1.jpg', 'https://[::1/1.jpg'],
    ...[
      'https://user:secret@cdn.example.com/1.jpg',
      'https://user@cdn.example.com/1.jpg',
      'https://@cdn.example.com/1',
    ],
    ...[
      'https://cdn.example.com/a b.jpg',
      'https://cdn.example.com/a\tb.jpg',
      'https://cdn.example.com/a\nb.jpg',
    ],
    ...[
      'https://cdn.example.com/"><script>',
      'https://cdn.example.com\\1.jpg',
      'https://cdn.example.com/%zz.jpg',
    ],
    `https://cdn.example.com/${'a'.repeat(2025)}`,
  ];
  for (const one of wrong) await refusesFields(t, { images: [image, one] }, '/images/1');
  const many = [wrong[0], image, wrong[1], image, wrong[5]];
  await refusesFields(t, { images: many }, '/images/0', '/images/2', '/images/4');
});

t.test('absolute URLs are kept as they were given', async (t) => {
  const images = [
    ...[
      'https://cdn.example.com',
      'HTTPS://CDN.example.com/A.jpg?w=1&h=2#x',
      'https://cdn.example.com:8443/%20a.jpg',
    ],
    ...[
      'https://203.0.113.7/1.jpg',
      'https://[2001:db8::1]/1.jpg',
      'https://cdn.example.com/사진.jpg',
      'http://localhost:9000/1.jpg',
    ],
    ...[
      'https://cdn.example.com/@me/1.jpg',
      `https://cdn.example.com/${'a'.repeat(2024)}`,
      'https://cdn.example.com',
    ],
  ];
  const created = await createPost(app, token, { images });
  t.strictSame(created.images, images);
  t.equal(created.thumbnail, images[0]);
  t.equal((await createPost(app, token, { images: [`  ${image} `] })).thumbnail, image, 'trimmed');
});

t.test('in production plain http is refused', async (t) => {
  const production = await createTestApp(
    {
      NODE_ENV: 'production',
      DATABASE_URL: app.url,
      JWT_SECRET: 'a secret that only tests have 0123456789',
      RESEND_API_KEY: 're_0123456789',
      MAIL_FROM: 'Dure <no-reply@example.com>',
    },
    { databaseUrl: app.url },
  );
  t.teardown(production.close);
  const images = [image, 'http://cdn.example.com/1.jpg', 'HTTP://cdn.example.com/1.jpg'];
  const answer = await production.call('POST', path, { token, body: { ...valid, images } });
  invalid(t, answer, '/images/1', '/images/2');
  t.equal((await production.call('POST', path, { token, body: valid })).status, 201);
});

t.test('the longest post is kept as it is', async (t) => {
  const body = {
    title: '😀'.repeat(100),
    content: '😀'.repeat(5000),
    images: Array.from({ length: 10 }, (_, index) => `https://cdn.example.com/${index}${'a'.repeat(2023)}`),
  };
  t.match(await createPost(app, token, body), body);
  const escaped = JSON.stringify(body).replaceAll('😀', '\\ud83d\\ude00');
  const headers = { 'content-type': 'application/json' };
  t.equal((await call('POST', path, { token, headers, body: escaped })).status, 201);
});
