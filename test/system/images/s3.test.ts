import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import S3rver from 's3rver';
import t from 'tap';
import { createTestApp, createUser } from '../../support/app.ts';
import { unavailable } from '../../support/assertions.ts';
import { plainPicture, upload, uploadImage } from '../../support/images.ts';
import { until } from '../../support/until.ts';

const directory = t.testdir();
const server = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name: 'dure-images', configs: [] }],
});
const { port } = (await server.run()) as AddressInfo;
t.teardown(() => server.close());

const environment = {
  S3_BUCKET: 'dure-images',
  S3_ACCESS_KEY_ID: 'S3RVER',
  S3_SECRET_ACCESS_KEY: 'S3RVER',
  MEDIA_BASE_URL: `http://127.0.0.1:${port}/dure-images`,
};
const app = await createTestApp({ ...environment, S3_ENDPOINT: `http://127.0.0.1:${port}` });
t.teardown(app.close);

t.test('images are kept in the bucket, with the headers that browsers need, and deleted there', async (t) => {
  const { token } = await createUser(app);
  const image = await uploadImage(app, token);
  t.match(image.url, new RegExp(`^${environment.MEDIA_BASE_URL}/[0-9a-f]{2}/[0-9a-f]{30}\\.webp$`));
  for (const url of [image.url, image.thumbnail_url]) {
    const response = await fetch(url);
    t.equal(response.status, 200, url);
    t.equal(response.headers.get('content-type'), 'image/webp');
    t.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    t.equal(Buffer.from(await response.arrayBuffer()).toString('latin1', 8, 12), 'WEBP');
  }
  t.equal((await app.call('GET', new URL(image.url).pathname.replace('/dure-images', '/media'))).status, 404);
  t.equal((await app.call('DELETE', `/api/v1/images/${image.id}/`, { token })).status, 200);
  for (const url of [image.url, image.thumbnail_url]) t.equal((await fetch(url)).status, 404);
});

t.test(
  'while the store is down, slow or refuses, uploads are unavailable, and a later run cleans up',
  async (t) => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.teardown(() => silent.close());
    const outages = {
      'a store that is down': { S3_ENDPOINT: 'http://127.0.0.1:9' },
      'a store that does not answer': {
        S3_ENDPOINT: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      },
      'a wrong key': { S3_ENDPOINT: `http://127.0.0.1:${port}`, S3_ACCESS_KEY_ID: 'unknown' },
      'a bucket that does not exist': { S3_ENDPOINT: `http://127.0.0.1:${port}`, S3_BUCKET: 'missing' },
    };
    const { token } = await createUser(app);
    for (const [name, overrides] of Object.entries(outages)) {
      const broken = await createTestApp(
        { ...environment, ...overrides, WORKER_ENABLED: 'false' },
        { databaseUrl: app.url },
      );
      t.teardown(broken.close);
      const answer = await upload(broken, token, await plainPicture());
      unavailable(t, answer);
      const { rows } = await app.pool.query(`SELECT state, user_id FROM images WHERE state = 'deleted'`);
      t.strictSame(rows, [{ state: 'deleted', user_id: null }], name);
      await app.pool.query('UPDATE images SET check_after = now()');
      await app.pool.query(`SELECT graphile_worker.add_job('clean_up')`);
      await until('the clean-up', async () => {
        const left = await app.pool.query(`SELECT FROM images WHERE state = 'deleted'`);
        return left.rowCount === 0;
      });
    }
  },
);
