import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { type LoadResult, sendLoad } from './load.ts';
import { cpuTimeWithChildren, peakWithChildren } from './processes.ts';
import { withService } from './servers.ts';
import { median } from './table.ts';

/*
 * npm run bench -- uploads [--seconds 5] [--rounds 3] [--uploads 10]
 *
 * CPU time of an upload, and what `me` loses while as many images are converted as the service converts at once. Then the memory
 * of the service and its conversions for the most demanding images, and what others can upload while a user stalls 11 uploads.
 */

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    uploads: { type: 'string', default: '10' },
  },
});
const [seconds, rounds, uploads] = [Number(values.seconds), Number(values.rounds), Number(values.uploads)];

const say = (line: string) => process.stdout.write(`${line}\n`);

/** A photograph of a phone, 12 megapixels: noise that compresses about as a photograph does. */
function photograph(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  return sharp({ create: { width: 4_000, height: 3_000, channels: 3, background: '#000', noise } })
    .blur(1.2)
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 90 })
    .toBuffer();
}

async function upload(url: string, token: string, bytes: Buffer): Promise<number> {
  const form = new FormData();
  form.append('image', new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' }), 'photo.jpg');
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/api/v1/images/`, { method: 'POST', headers, body: form });
  await response.arrayBuffer();
  return response.status;
}

/** The largest images that are accepted, and smaller files that would take more memory. */
async function demandingImages(): Promise<[name: string, file: Buffer, times: number][]> {
  const plain = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 4, background: { r: 200, g: 60, b: 40, alpha: 0.5 } } });
  const deep = (width: number, height: number) =>
    plain(width, height)
      .toColourspace('rgb16')
      .withMetadata({ orientation: 6 })
      .png({ progressive: true })
      .toBuffer();
  return [
    ['PNG of 4,000,000 x 4', await plain(4_000_000, 4).png().toBuffer(), 1],
    ['PNG of 12,000,000 x 4', await plain(12_000_000, 4).png().toBuffer(), 1],
    ['PNG of 7,071 x 7,071, 16 bits, interlaced, turned', await deep(7_071, 7_071), 3],
    ['PNG of 16,384 x 3,051, 16 bits, interlaced, turned', await deep(16_384, 3_051), 3],
  ];
}

/** Begins an upload and stops before its end. Eleven of them are a few kilobytes less than all uploads may have in memory. */
async function stall(url: string, token: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  await once(socket, 'connect');
  socket
    .resume()
    .write(
      [
        'POST /api/v1/images/ HTTP/1.1',
        'host: localhost',
        `authorization: Bearer ${token}`,
        'content-type: multipart/form-data; boundary=x',
        'content-length: 7000000\r\n',
        '--x\r\ncontent-disposition: form-data; name="image"; filename="a.jpg"\r\n\r\n',
      ].join('\r\n'),
    );
  socket.write(Buffer.alloc(6_100_000));
  return socket;
}

const image = await photograph();
await withService({ WORKER_ENABLED: 'true' }, async ({ url, pid }, users) => {
  // One more than are converted at once, so that there is always one to convert.
  const uploaders = users.slice(0, 3);
  const [{ access } = { access: '' }] = uploaders;

  await upload(url, access, image);
  const before = await cpuTimeWithChildren(pid);
  const started = performance.now();
  for (let index = 0; index < uploads; index++) {
    const status = await upload(url, access, image);
    if (status !== 201) throw new Error(`an upload was answered with ${status}`);
  }
  const cpu = ((await cpuTimeWithChildren(pid)) - before) / uploads / 1_000;
  const elapsed = (performance.now() - started) / uploads;
  const size = (image.length / 1024 / 1024).toFixed(1);
  say(`one upload of 12 megapixels (${size} MiB): ${cpu.toFixed(0)} ms of CPU, ${elapsed.toFixed(0)} ms`);

  const me = { method: 'GET', path: '/auth/me/', headers: { authorization: `Bearer ${access}` } } as const;
  const measureMe = () => sendLoad(url, [me, me, me, me], seconds);
  await measureMe();
  const alone: LoadResult[] = [];
  const together: LoadResult[] = [];
  const peaks: number[] = [];
  let uploaded = 0;
  for (let round = 0; round < rounds; round++) {
    alone.push(await measureMe());
    let isRunning = true;
    const senders = uploaders.map(async (uploader) => {
      while (isRunning) if ((await upload(url, uploader.access, image)) === 201) uploaded++;
    });
    const measured = measureMe();
    peaks.push(await peakWithChildren(pid, measured));
    together.push(await measured);
    isRunning = false;
    await Promise.all(senders);
  }
  const [free, busy] = [alone, together].map((results) => ({
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    p50: median(results.map(({ p50 }) => p50)),
    p99: median(results.map(({ p99 }) => p99)),
  }));
  if (free === undefined || busy === undefined) throw new Error('nothing was measured');
  for (const [label, { perSecond, p50, p99 }] of Object.entries({
    'me alone': free,
    'me during uploads': busy,
  })) {
    say(
      `${label.padEnd(18)} ${perSecond.toFixed(0)} req/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    );
  }
  const errors = [...alone, ...together].flatMap((result) => result.errors);
  const ratio = busy.perSecond / free.perSecond;
  say(`ratio ${ratio.toFixed(2)}; ${uploaded} uploads meanwhile, ${errors.length} failed requests`);
  say(`peak memory ${Math.max(...peaks).toFixed(0)} MiB`);

  for (const [name, file, times] of await demandingImages()) {
    const sent = Promise.all(uploaders.slice(0, times).map(({ access }) => upload(url, access, file)));
    const start = performance.now();
    const peak = await peakWithChildren(pid, sent);
    const took = ((performance.now() - start) / 1_000).toFixed(1);
    say(`${name}, ${times} at once: ${(await sent).join(', ')}, peak ${peak.toFixed(0)} MiB, ${took} s`);
  }

  const stalled = await Promise.all(Array.from({ length: 11 }, () => stall(url, access)));
  await sleep(1_000);
  const statuses: number[] = [];
  // One after the other: within the seconds for which the stalled ones last.
  for (let index = 0; index < 19; index++) {
    const { access = '' } = uploaders[1 + (index % (uploaders.length - 1))] ?? {};
    statuses.push(await upload(url, access, image));
  }
  for (const socket of stalled) socket.destroy();
  const accepted = statuses.filter((status) => status === 201).length;
  say(`while one user stalls 11 uploads of 6.1 MB: ${accepted} of 19 uploads of others are 201`);
});
