import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { invalid } from '../support/assertions.ts';
import { production } from '../support/service.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
const { call } = app;
const path = '/api/v1/posts/';
const image = 'https://cdn.example.com/1.jpg';
const valid = { title: '글', content: '내용', images: [image] };

t.test('absolute URLs are kept as they were given', async (t) => {
  const { token } = await openShop(app);
  const hosts =
    'https://cdn.example.com https://203.0.113.7/1.jpg https://[2001:db8::1]/1.jpg http://localhost:9000/1.jpg';
  const urls = [
    ...hosts.split(' '),
    'HTTPS://CDN.example.com/A.jpg?w=1&h=2#x',
    'https://cdn.example.com:8443/%20a.jpg',
    'https://cdn.example.com/사진.jpg',
    'https://cdn.example.com/@me/1.jpg',
    `https://cdn.example.com/${'a'.repeat(2024)}`,
    'https://cdn.example.com',
  ];
  const created = await createPost(app, token, { images: urls });
  t.strictSame(created.images, urls);
  t.equal(created.thumbnail, urls[0]);
  t.equal((await createPost(app, token, { images: [`  ${image} `] })).thumbnail, image, 'trimmed');
});

t.test('images that are not absolute URLs are named by their JSON pointer', async (t) => {
  const { token } = await openShop(app);
  const post = await createPost(app, token);
  const rejects = async (images: unknown[], ...names: string[]) => {
    invalid(t, await call('POST', path, { token, body: { ...valid, images } }), ...names);
    invalid(t, await call('PATCH', `${path}${post.id}/`, { token, body: { images } }), ...names);
  };
  const relative =
    'image.jpg /image.jpg //cdn.example.com/1.jpg cdn.example.com/1.jpg https:cdn.example.com/1.jpg';
  const schemes =
    'ftp://cdn.example.com/1.jpg javascript:alert(1) data:image/png;base64,AAAA blob:https://a.example/1';
  const hosts = 'https:// https:///1.jpg https://?x https://a.example:99999/1.jpg https://[::1/1.jpg';
  const users = 'https://user:secret@a.example/1.jpg https://user@a.example/1.jpg https://@a.example/1';
  const paths = ['a b.jpg', 'a\tb.jpg', 'a\nb.jpg', '"><script>', '%zz.jpg', 'a'.repeat(2025)];
  const wrong = [
    ...[relative, schemes, hosts, users].flatMap((urls) => urls.split(' ')),
    ...paths.map((rest) => `https://cdn.example.com/${rest}`),
    'https://cdn.example.com\\1.jpg',
  ];
  for (const one of wrong) await rejects([image, one], '/images/1');
  const many = [wrong[0], image, wrong[1], image, wrong[5]];
  await rejects(many, '/images/0', '/images/2', '/images/4');
});

t.test('in production plain http is rejected', async (t) => {
  const inProduction = await app.startInstance(production);
  const { token } = await openShop(inProduction);
  const images = [image, 'http://cdn.example.com/1.jpg', 'HTTP://cdn.example.com/1.jpg'];
  const response = await inProduction.call('POST', path, { token, body: { ...valid, images } });
  invalid(t, response, '/images/1', '/images/2');
  t.equal((await inProduction.call('POST', path, { token, body: valid })).status, 201);
});
