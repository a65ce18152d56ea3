import { rm, truncate } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import S3rver from 's3rver';
import t, { type Test } from 'tap';
import { createTestApp, createUser, type TestApp } from '../../support/app.ts';
import { unavailable } from '../../support/assertions.ts';
import {
  cleanUp,
  imageFilesIn,
  multipart,
  multipartType,
  plainImage,
  upload,
  uploadImage,
} from '../../support/images.ts';
import { countRows } from '../../support/rows.ts';
import { serve } from '../../support/serve.ts';
import { production, startService } from '../../support/service.ts';
import { cannotMount, fillDisk, smallDisk } from '../../support/small-disk.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { temporaryFolder } from '../embedded-postgres/support.ts';

const { JWT_SECRET } = production;
const bucket = 'dure-images';
const directory = t.testdir();
const server = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name: bucket, configs: [] }],
});
const { port } = (await server.run()) as AddressInfo;
t.teardown(() => server.close());
const store = `http://127.0.0.1:${port}`;

const environment = {
  S3_ENDPOINT: store,
  S3_BUCKET: bucket,
  S3_ACCESS_KEY_ID: 'S3RVER',
  S3_SECRET_ACCESS_KEY: 'S3RVER',
  MEDIA_BASE_URL: `${store}/${bucket}`,
  JWT_SECRET,
};
const app = await createTestApp(environment);

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

t.test('while the store is down, slow or rejects, uploads are unavailable, and are cleaned up', async (t) => {
  const outages = {
    'a store that is down': { S3_ENDPOINT: 'http://127.0.0.1:9' },
    'a store that does not respond': { S3_ENDPOINT: await serve(t, () => undefined) },
    'a wrong key': { S3_ACCESS_KEY_ID: 'unknown' },
    'a bucket that does not exist': { S3_BUCKET: 'missing' },
  };
  const { token } = await createUser(app);
  for (const [name, overrides] of Object.entries(outages)) {
    const broken = await app.startInstance({ ...environment, ...overrides }, { serverErrors: true });
    unavailable(t, await upload(broken, token, await plainImage()));
    // The response does not wait for it when its time is over.
    const givenUp = () => countRows(app, `images WHERE state = 'deleted' AND user_id IS NULL`);
    const count = await until(`an image that is given up: ${name}`, givenUp);
    t.equal(count, 1, name);
    await app.pool.query('UPDATE images SET check_after = now()');
    await cleanUp(app);
    t.equal(await givenUp(), 0, name);
  }
});

/** The images of a user, or of none, as the clean-up sees them. */
async function imageRows({ pool }: TestApp, userId: number | null): Promise<unknown[]> {
  const select = 'SELECT state, user_id, check_after > now() AS waits FROM images';
  return (await pool.query(`${select} WHERE user_id IS NOT DISTINCT FROM $1`, [userId])).rows;
}

interface KilledUpload {
  /** Another instance. */
  app: TestApp;
  /** Of the instance that is killed. */
  environment: Record<string, string>;
  /** Whether the upload has come to the moment of the kill. */
  isThere(): Promise<boolean>;
  /** Names of the files that are kept. */
  files(): Promise<string[]>;
}

/** Kills a service during an upload, and expects another instance to delete what is left, but not before an hour has passed. */
async function killDuringUpload(t: Test, { app, environment, isThere, files }: KilledUpload): Promise<void> {
  const { id, token } = await createUser(app);
  const service = await startService({
    ...production,
    DATABASE_URL: app.url,
    WORKER_ENABLED: 'false',
    ...environment,
  });
  t.teardown(() => service.end('SIGKILL'));
  const sent = fetch(`${service.url}/api/v1/images/`, {
    method: 'POST',
    headers: { ...multipartType, authorization: `Bearer ${token}` },
    body: new Uint8Array(multipart({ name: 'image', content: await plainImage(), filename: 'a.jpg' })),
  });
  sent.catch(() => undefined);
  await until('the moment', isThere);
  await service.end('SIGKILL');
  await t.rejects(sent, 'the upload is not answered');
  const left = await files();
  t.ok(left.length > 0, 'files are left');
  t.strictSame(await imageRows(app, id), [{ state: 'pending', user_id: id, waits: true }]);

  await cleanUp(app);
  t.strictSame(await files(), left, 'the upload may still be running');
  await app.pool.query(`UPDATE images SET check_after = check_after - interval '1 hour'`);
  await cleanUp(app);
  t.strictSame(await files(), []);
  t.strictSame(await imageRows(app, id), []);
}

t.test('killed before the store has answered: another instance cleans up', async (t) => {
  const proxy = await createTcpProxy(t, store);
  proxy.holdResponsesTo('PUT /');
  const files = async () =>
    (await imageFilesIn(`${directory}/${bucket}`)).filter((name) => name.endsWith('_object'));
  await killDuringUpload(t, {
    app,
    environment: { ...environment, S3_ENDPOINT: proxy.url, MEDIA_BASE_URL: 'https://images.example.com' },
    isThere: async () => proxy.held() >= 2 && (await files()).length === 2,
    files,
  });
});

t.test('killed while a file is written to the disk: another instance cleans up', async (t) => {
  const DATA_DIR = t.testdir();
  const app = await createTestApp({ DATA_DIR, JWT_SECRET }, { serverErrors: true });
  const files = () => imageFilesIn(DATA_DIR);
  // The small file stays under the name that it has until it is complete.
  const hang = `import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { rename } = fs.promises;
    fs.promises.rename = (from, to) => to.includes('-480') ? new Promise(() => {}) : rename(from, to);
    syncBuiltinESMExports();`;
  await killDuringUpload(t, {
    app,
    environment: { DATA_DIR, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hang)}` },
    isThere: async () => /^\S+-480\.webp\.part \S+[0-9a-f]{30}\.webp$/.test((await files()).join(' ')),
    files,
  });
});

t.test('on a full disk, uploads are unavailable and leave nothing', { skip: cannotMount }, async (t) => {
  const DATA_DIR = smallDisk(t, await temporaryFolder(t), 1);
  const app = await createTestApp({ DATA_DIR, WORKER_ENABLED: 'false' }, { serverErrors: true });
  t.teardown(app.close);
  const { token } = await createUser(app);
  const fill = await fillDisk(DATA_DIR);
  // Room for nothing, then for the first of both files.
  for (const room of [0, 4_096]) {
    await truncate(fill, 1024 * 1024 - room);
    unavailable(t, await upload(app, token, await plainImage()));
    t.match(app.logs.join(''), /ENOSPC/, 'the log names the reason');
    t.strictSame(await imageFilesIn(DATA_DIR), []);
  }
  const row = { state: 'deleted', user_id: null, waits: true };
  t.strictSame(await imageRows(app, null), [row, row]);
  await rm(fill);
  t.equal((await upload(app, token, await plainImage())).status, 201);
  const { rows } = await app.pool.query('SELECT kind, count FROM daily_counts');
  t.strictSame(rows, [{ kind: 'image', count: 1 }], 'those that failed do not count for the quota');
  t.equal((await imageFilesIn(DATA_DIR)).length, 2);
});
