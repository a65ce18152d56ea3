import t, { type Test } from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid, refused } from '../support/assertions.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);
const { call } = app;
const path = '/api/v1/posts/';
const image = 'https://cdn.example.com/1.jpg';
const images = [image];
const valid = { title: '글', content: '내용', images };
const { token } = await openShop(app);
const post = await createPost(app, token);

/** Asserts that these images are refused for a new post and for a change, and how they are named. */
async function refusesImages(test: Test, images: unknown[], ...names: string[]) {
  invalid(test, await call('POST', path, { token, body: { ...valid, images } }), ...names);
  invalid(test, await call('PATCH', `${path}${post.id}/`, { token, body: { images } }), ...names);
}

t.test('a user without a store cannot write a post', async (t) => {
  const { token } = await createUser(app);
  const body = { title: '글', content: '내용', images };
  refused(t, await call('POST', path, { token, body }), 403, 'store_required');
  const wrong = await call('POST', path, { token, body: { ...body, images: ['x'] } });
  t.equal(wrong.body.data.code, 'validation_error', 'validation comes first');
});

t.test('a post of another store is forbidden to change and to delete', async (t) => {
  const owner = await openShop(app);
  const post = await createPost(app, owner.token);
  const stranger = await openShop(app, '다른 가게');
  const { token: withoutStore } = await createUser(app);
  for (const token of [stranger.token, withoutStore]) {
    const body = { title: '남의 글' };
    refused(t, await call('PATCH', `${path}${post.id}/`, { token, body }), 403, 'forbidden');
    refused(t, await call('DELETE', `${path}${post.id}/`, { token }), 403, 'forbidden');
  }
  const unchanged = await call('GET', `${path}${post.id}/`, { token: stranger.token });
  t.strictSame(unchanged.body.data, { ...post, is_mine: false });
  await call('DELETE', `${path}${post.id}/`, { token: owner.token });
  refused(t, await call('DELETE', `${path}${post.id}/`, { token: stranger.token }), 404, 'post_not_found');
});

t.test('validation comes before the post that does not exist, and before its category', async (t) => {
  const missing = `${path}2147483647/`;
  invalid(t, await call('PATCH', missing, { token, body: {} }), 'body');
  refused(t, await call('PATCH', missing, { token, body: { title: '글' } }), 404, 'post_not_found');
  invalid(t, await call('GET', `${path}?category_id=999`, { token }), 'category_id');
});

t.test('images that are not absolute URLs are named by their JSON pointer', async (t) => {
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
  for (const one of wrong) await refusesImages(t, [image, one], '/images/1');
  const many = [wrong[0], image, wrong[1], image, wrong[5]];
  await refusesImages(t, many, '/images/0', '/images/2', '/images/4');
});

t.test('in production plain http is refused', async (t) => {
  const production = await createTestApp(
    {
      NODE_ENV: 'production',
      DATABASE_URL: app.url,
      JWT_SECRET: 'only-tests-sign-with-these-40-characters',
      RESEND_API_KEY: 're_dK3vQ8wZ_unused',
      MAIL_FROM: 'Dure <no-reply@example.com>',
    },
    { databaseUrl: app.url },
  );
  t.teardown(production.close);
  const { token } = await openShop(production);
  const images = [image, 'http://cdn.example.com/1.jpg', 'HTTP://cdn.example.com/1.jpg'];
  const answer = await production.call('POST', path, { token, body: { ...valid, images } });
  invalid(t, answer, '/images/1', '/images/2');
  t.equal((await production.call('POST', path, { token, body: valid })).status, 201);
});
