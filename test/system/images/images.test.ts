import sharp from 'sharp';
import t from 'tap';
import { createTestApp, createUser, type TestResponse } from '../../support/app.ts';
import { invalid, rejected } from '../../support/assertions.ts';
import { canvas, imageFilesIn, multipart, multipartType, type Part, upload } from '../../support/images.ts';
import { countRows } from '../../support/rows.ts';

const directory = t.testdir();
const app = await createTestApp({ DATA_DIR: directory, WORKER_ENABLED: 'false' });
const path = '/api/v1/images/';
const { token } = await createUser(app);

/** The bytes of an image that the app serves. */
async function fetchImage(url: string): Promise<Buffer> {
  const { statusCode, rawPayload } = await app.app.inject({ url: new URL(url).pathname });
  if (statusCode !== 200) throw new Error(`${url} is ${statusCode}`);
  return rawPayload;
}

const files = () => imageFilesIn(`${directory}/media`);

/** Pixels that compress badly. */
function noise(side: number): Promise<Buffer> {
  const parameters = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  return sharp({ create: { width: side, height: side, channels: 3, background: '#000', noise: parameters } })
    .png()
    .toBuffer();
}

/** A PNG of one colour, which is a small file however large it is. */
const plainPng = (width: number, height: number) => canvas(width, height).png().toBuffer();

t.test('an image is kept upright in two sizes of WebP, without metadata', async (t) => {
  // 2,000 x 1,000 pixels, to be turned to the right when shown.
  const original = await canvas(2000, 1000)
    .composite([{ input: await canvas(200, 1000, '#00ff00').png().toBuffer(), left: 0, top: 0 }])
    .withExif({ IFD0: { Copyright: 'secret-owner' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '37/1' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  const response = await upload(app, token, original);
  t.equal(response.status, 201, response.text);
  t.equal(response.body.message, '사진을 올렸습니다.');
  const { id, url, thumbnail_url, ...size } = response.body.data;
  t.type(id, 'number');
  t.strictSame(size, { width: 800, height: 1600 });
  t.match(url, /^https:\/\/api\.example\.com\/media\/[0-9a-f]{2}\/[0-9a-f]{30}\.webp$/);
  t.equal(thumbnail_url, url.replace('.webp', '-480.webp'));
  for (const [address, width, height] of [
    [url, 800, 1600],
    [thumbnail_url, 240, 480],
  ]) {
    const bytes = await fetchImage(address);
    const { format, exif, icc, xmp, orientation, ...header } = await sharp(bytes).metadata();
    t.strictSame({ format, width: header.width, height: header.height }, { format: 'webp', width, height });
    t.strictSame([exif, icc, xmp, orientation], [undefined, undefined, undefined, undefined]);
    t.notOk(bytes.includes('secret-owner'));
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
    const [red = 255, green = 0] = data.subarray(Math.floor(info.width / 2) * info.channels);
    t.ok(green > red, 'its left side is on top');
  }
});

t.test('what an image is decides, in whichever form it comes', async (t) => {
  const noise = { create: { width: 60, height: 50, channels: 3, background: '#888888' } } as const;
  const frames = await Promise.all(
    ['#ff0000', '#0000ff'].map((color) => canvas(30, 30, color).png().toBuffer()),
  );
  const forms = {
    'a JPEG in CMYK': canvas(60, 50).toColourspace('cmyk').withIccProfile('cmyk').jpeg(),
    'a PNG with 16 bits': canvas(60, 50).toColourspace('rgb16').png(),
    'a grey PNG': sharp(noise).greyscale().png(),
    'a PNG with transparency': sharp({ create: { ...noise.create, channels: 4 } }).png(),
    'an animated WebP': sharp(frames, { join: { animated: true } }).webp({ loop: 0, delay: [100, 100] }),
    'a progressive JPEG': canvas(60, 50).jpeg({ progressive: true }),
  };
  for (const [name, form] of Object.entries(forms)) {
    const bytes = Buffer.concat([await form.toBuffer(), Buffer.from('<script>alert(1)</script>')]);
    const response = await upload(app, token, bytes);
    t.equal(response.status, 201, `${name}: ${response.text}`);
    const kept = await fetchImage(response.body.data.url);
    const { width, height, space, depth, pages = 1, format } = await sharp(kept).metadata();
    const [side, other] = name === 'an animated WebP' ? [30, 30] : [60, 50];
    const kind = { format: 'webp', width: side, height: other, space: 'srgb', depth: 'uchar', pages: 1 };
    t.strictSame({ format, width, height, space, depth, pages }, kind, name);
    t.notOk(kept.includes('<script>'), 'only pixels are kept');
  }
});

/** A progressive JPEG of one grey block, whose coefficients come bit by bit (ITU-T T.81, annex G). */
function jpegWithScans(count: number): Buffer {
  const table = (id: string) => `ffc40014${id}01${'00'.repeat(16)}`;
  const scan = (coefficient: number, bits: string) => {
    const k = coefficient.toString(16).padStart(2, '0');
    return `ffda0008010100${k}${k}${bits}7f`;
  };
  const head = `ffd8ffdb004300${'01'.repeat(64)}ffc2000b080008000801011100${table('00')}${table('10')}`;
  const coefficients = Array.from({ length: 63 }, (_, index) => index + 1);
  const scans = [
    scan(0, '00'),
    ...['0d', 'dc', 'cb'].flatMap((bits) => coefficients.map((k) => scan(k, bits))),
  ];
  return Buffer.from(`${head}${scans.slice(0, count).join('')}ffd9`, 'hex');
}

t.test('what is no complete JPEG, PNG or WebP within the limits is invalid and leaves nothing', async (t) => {
  const before = await files();
  const noisy = canvas(300, 300).composite([{ input: await noise(300), left: 0, top: 0 }]);
  const jpeg = await noisy.clone().jpeg().toBuffer();
  const png = await noisy.png().toBuffer();
  const webp = await sharp(png).webp().toBuffer();
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>');
  const rejectedFiles: Record<string, Buffer> = {
    'no bytes': Buffer.alloc(0),
    text: Buffer.from('hello'),
    'an SVG': svg,
    'a GIF': await canvas(10, 10).gif().toBuffer(),
    'a TIFF': await canvas(10, 10).tiff().toBuffer(),
    'a HEIC': Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'),
    'a PDF': Buffer.from('%PDF-1.4\n1 0 obj'),
    'an SVG behind the signature of a JPEG': Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), svg]),
    'an SVG behind the signature of a WebP': Buffer.from(`RIFFaaaaWEBPVP8 ${svg}`),
    'half a JPEG': jpeg.subarray(0, jpeg.length / 2),
    'half a PNG': png.subarray(0, png.length / 2),
    'half a WebP': webp.subarray(0, webp.length / 2),
    'a JPEG with its head only': jpeg.subarray(0, 20),
    'a JPEG with 110 scans': jpegWithScans(110),
    'a PNG of 50.01 megapixels in a few kilobytes': await plainPng(10_000, 5_001),
    'a PNG without width': Buffer.from(png).fill(0, 16, 20),
    'a PNG with a side of 16,385 pixels': await plainPng(16_385, 4),
    'a PNG of 16 megapixels in four rows': await plainPng(4_000_000, 4),
  };
  const { id, token } = await createUser(app);
  for (const [name, bytes] of Object.entries(rejectedFiles)) {
    const response = await upload(app, token, bytes);
    t.equal(response.body?.data?.code, 'invalid_image', `${name}: ${response.text}`);
    rejected(t, response, 400, 'invalid_image');
  }
  t.strictSame(await files(), before, 'no file');
  const counts = `daily_counts WHERE owner_id = ${id} AND count = ${Object.keys(rejectedFiles).length}`;
  t.equal(await countRows(app, counts), 1, 'all of them count for the quota');
});

t.test('a body that is not exactly one file `image` is rejected by the name of its field', async (t) => {
  const content = await plainPng(10, 10);
  const file = { name: 'image', content, filename: 'a.png' };
  const post = (...parts: Part[]) =>
    app.call('POST', path, { token, body: multipart(...parts), headers: multipartType });
  const cases: [TestResponse, string, string][] = [
    [await post(), 'image', 'required'],
    [await post({ name: 'image', content: 'text' }), 'image', 'invalid_type'],
    [await post(file, file), 'image', 'too_many'],
    [await post({ ...file, name: 'photo' }), 'photo', 'unknown_field'],
    [await post(file, { ...file, name: 'photo' }), 'photo', 'unknown_field'],
    [await post(file, { name: 'title', content: '제목' }), 'title', 'unknown_field'],
    [await post({ ...file, name: '__proto__' }), 'body', 'invalid_format'],
    [await app.call('POST', path, { token }), 'image', 'required'],
    [await app.call('POST', path, { token, body: '', headers: multipartType }), 'image', 'required'],
  ];
  const body = multipart(file);
  for (const [type, bytes] of [
    ['multipart/form-data', body],
    ['multipart/form-data; boundary=another', body],
    [multipartType['content-type'], body.subarray(0, -40)],
    [multipartType['content-type'], body.subarray(0, 60)],
    ['multipart/form-data; boundary=b', Buffer.from('--b\r\n'.repeat(100_000))],
  ] as const) {
    const response = await app.call('POST', path, { token, body: bytes, headers: { 'content-type': type } });
    cases.push([response, 'body', 'invalid_format']);
  }
  for (const [response, field, code] of cases) {
    invalid(t, response, field);
    t.equal(response.body.data.errors[0].code, code, field);
  }
  for (const type of ['text/plain', 'multipart/mixed; boundary=x', undefined]) {
    const headers = type === undefined ? {} : { 'content-type': type };
    const response = await app.call('POST', path, { token, body: content, headers });
    rejected(t, response, 415, 'unsupported_media_type');
  }
  t.equal(await countRows(app, `images WHERE state = 'pending'`), 0, 'none is left as if it were still read');
});

t.test('what is as large as it may be is kept, what is larger is rejected', async (t) => {
  // Phones append videos.
  const video = Buffer.from('ffda0008'.repeat(200), 'hex');
  const scans = Buffer.concat([jpegWithScans(90), video]);
  const image = await canvas(10, 10).jpeg().toBuffer();
  const padded = (size: number) => Buffer.concat([image, Buffer.alloc(size - image.length)]);
  const largest = 10 * 1024 * 1024;
  const kept = [scans, await plainPng(16_384, 4), await plainPng(4_200, 4_200), padded(largest)];
  for (const content of kept) t.equal((await upload(app, token, content)).status, 201);
  rejected(t, await upload(app, token, padded(largest + 1)), 413, 'payload_too_large');
});

t.test('images are served to every page, for a year; what is no image is not_found', async (t) => {
  const { url } = (await upload(app, token, await plainPng(10, 10))).body.data;
  const { pathname } = new URL(url);
  const response = await app.call('GET', pathname);
  t.match(response.headers, {
    'content-type': 'image/webp',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin',
    'content-security-policy': /default-src 'none'/,
  });
  const again = await app.call('GET', pathname, {
    headers: { 'if-none-match': String(response.headers.etag) },
  });
  t.equal(again.status, 304);
  t.equal((await app.call('HEAD', pathname)).status, 200);
  const wrong = [
    pathname.replace('.webp', '.webp.part'),
    pathname.replace('.webp', '-481.webp'),
    pathname.replace(/.\.webp/, 'x.webp'),
    `/media/${pathname.split('/')[2]}/`,
    '/media/ab/..%2f..%2fsecrets.json',
    '/media/categories/0.webp',
    '/media/categories/999.webp',
    '/media/categories/1.png',
    '/media/',
  ];
  for (const one of wrong) {
    const missing = await app.call('GET', one);
    rejected(t, missing, 404, 'not_found');
    t.equal(missing.headers['cache-control'], undefined, one);
  }
  for (const headers of [{ range: 'bytes=99999999-' }, { 'if-match': '"other"' }]) {
    rejected(t, await app.call('GET', pathname, { headers }), 404, 'not_found');
  }
  rejected(t, await app.call('POST', pathname), 405, 'method_not_allowed');
});

t.test('every category has a placeholder of its own', async (t) => {
  await app.pool.query(`INSERT INTO store_categories (name) VALUES ('새로운 것')`);
  const { rows } = await app.pool.query<{ id: number; name: string }>(
    'SELECT id, name FROM store_categories',
  );
  const placeholders = new Set<string>();
  for (const { id, name } of rows) {
    const { statusCode, headers, rawPayload } = await app.app.inject({ url: `/media/categories/${id}.webp` });
    t.equal(statusCode, 200, name);
    t.match(headers, {
      'content-type': 'image/webp',
      'cache-control': 'public, max-age=86400',
      'cross-origin-resource-policy': 'cross-origin',
    });
    t.match(await sharp(rawPayload).metadata(), { format: 'webp', width: 480, height: 480 });
    placeholders.add(rawPayload.toString('base64'));
  }
  t.equal(placeholders.size, rows.length, 'no two are the same');
});
