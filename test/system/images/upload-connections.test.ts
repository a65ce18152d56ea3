import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createConversionQueue } from '../../../src/domains/images/conversion/convert.ts';
import { createTestApp, createUser } from '../../support/app.ts';
import { noErrorLogged, rejected, unavailable } from '../../support/assertions.ts';
import { gate, inParallel } from '../../support/concurrency.ts';
import { multipart, multipartType, plainImage } from '../../support/images.ts';
import { listen, rawConnection, rawRequest } from '../../support/raw-http.ts';
import { atMost } from '../../support/time.ts';
import { holdTimers } from '../../support/timers.ts';
import { until } from '../../support/until.ts';

/** Milliseconds between two looks of the service at what has arrived of an upload. */
const checkInterval = 5_000;

const directory = t.testdir();
/** Resolves once the test lets the storage answer. */
let hanging: Promise<void> | undefined;
const storage = { put: async () => hanging, delete: async () => undefined };
const app = await createTestApp(
  { DATA_DIR: directory, WORKER_ENABLED: 'false' },
  { storage, serverErrors: true },
);
const port = await listen(app.app);
const { token, id: userId } = await createUser(app);
const fileOf = (content: Buffer, name = 'image') => multipart({ name, content, filename: 'a.jpg' });
const smallImage = fileOf(await plainImage());

function head(length: number, given: Record<string, string> = {}): string {
  const own = { authorization: `Bearer ${token}`, 'content-length': String(length) };
  return rawRequest('POST', '/api/v1/images/', { ...own, ...multipartType, ...given });
}

/** The same head, without a length. */
const chunked = (text: string) => text.replace(/content-length: \d*\r\n/, 'transfer-encoding: chunked\r\n');

/** The states of the images of a user. */
async function statesOf(id: number): Promise<string[]> {
  const { rows } = await app.pool.query('SELECT state FROM images WHERE user_id = $1', [id]);
  return rows.map(({ state }) => state);
}

/** The side of the service of the next connection, and how many bytes it has read. */
async function nextConnection({ server } = app.app): Promise<Socket> {
  const [socket] = await once(server, 'connection');
  return socket;
}

t.test('of a body that was answered early little is read, then the connection closes', async (t) => {
  const file = fileOf(Buffer.alloc(12 * 1024 * 1024));
  const cases = [
    [{}, 413, 'payload_too_large'],
    [{ authorization: '' }, 401, 'not_authenticated'],
    [{ 'content-type': 'image/jpeg' }, 415, 'unsupported_media_type'],
    [{ authorization: '', 'content-length': '' }, 401, 'not_authenticated'],
  ] as const;
  for (const [headers, status, code] of cases) {
    const [served, connection] = await Promise.all([nextConnection(), rawConnection(port)]);
    const start = head(file.length, headers);
    const isChunked = 'content-length' in headers;
    connection.send(isChunked ? `${chunked(start)}${file.length.toString(16)}\r\n` : start);
    connection.send(file);
    rejected(t, await connection.response(), status, code);
    await until('the end of the connection', () => served.destroyed);
    t.ok(served.bytesRead < 1024 * 1024, `${code}: ${served.bytesRead} bytes were read`);
    connection.socket.destroy();
  }
  const connection = await rawConnection(port);
  const other = fileOf(Buffer.alloc(3 * 1024 * 1024), 'photo');
  const rejections = [
    [smallImage, { authorization: '' }, 401],
    [other, {}, 400],
  ] as const;
  for (const [body, headers, status] of rejections) {
    connection.send(head(body.length, headers));
    connection.send(body);
    t.equal((await connection.response()).status, status);
  }
  connection.send(head(smallImage.length));
  connection.send(smallImage);
  t.equal((await connection.response()).status, 201, 'it is usable after a body that was read');
  // Without a length, the size is known only while reading.
  connection.send(chunked(head(0)));
  connection.send(`${file.length.toString(16)}\r\n`);
  connection.send(file);
  rejected(t, await connection.response(), 413, 'payload_too_large');
  connection.socket.destroy();
});

t.test('an upload may take minutes, as long as enough of it arrives', async (t) => {
  const check = holdTimers(t, checkInterval);
  t.equal(app.app.server.requestTimeout, 0);
  const photo = fileOf(Buffer.concat([await plainImage(), Buffer.alloc(900_000)]));
  const [served, slow] = await Promise.all([nextConnection(), uploader(t, photo)]);
  for (let sent = 0; sent < photo.length; sent += 90_000) {
    if (sent === 0) slow.start(90_000);
    else slow.send(photo.subarray(sent, sent + 90_000));
    await until('the upload', async () => (await slow.states()).length === 1);
    await until('its bytes', () => served.bytesRead >= Math.min(sent + 90_000, photo.length));
    if (sent + 90_000 < photo.length) check();
  }
  t.equal((await slow.response()).status, 201);
});

t.test('an upload that is cut in the middle is not kept, and counts for the quota', async (t) => {
  const counted = async () =>
    (await app.pool.query('SELECT count FROM daily_counts WHERE owner_id = $1', [userId])).rows[0]?.count ??
    0;
  const before = await counted();
  for (const sent of [0, 60, smallImage.length - 30]) {
    const cut = await uploader(t, smallImage, { user: { id: userId, token } });
    cut.start(sent);
    const received = app.logs.length;
    cut.socket.destroy();
    await until('the end of the request', () => app.logs.length > received);
  }
  // Before its first byte, an upload may not have begun.
  await until('the rows', async () => (await counted()) >= before + 2);
  t.strictSame(await readdir(directory), [], 'and no file');
});

t.test('the time of a slow client does not count, that of the storage does', async (t) => {
  holdTimers(t, checkInterval);
  const limited = await app.startInstance(
    { DATA_DIR: directory },
    { storage, serverErrors: true, timeLimit: atMost(500) },
  );
  const at = await listen(limited.app);
  const own = { at, user: { id: userId, token } };
  const [slow, hung] = [await uploader(t, smallImage, own), await uploader(t, smallImage, own)];
  slow.start(100);
  // A second upload begins, hangs in the storage and is answered, while the first one is still being sent.
  const { open, opened } = gate();
  hanging = opened;
  hung.start();
  unavailable(t, await hung.response());
  t.equal(slow.socket.bytesRead, 0, 'the slow one has its time');
  hanging = undefined;
  open();
  slow.send(smallImage.subarray(100));
  t.match(String((await slow.response()).status), /201|503/, 'and a response, also on a busy machine');
});

interface UploaderOptions {
  user?: { id: number; token: string };
  at?: number;
  headers?: Record<string, string>;
}

/** Uploads, by a user of its own where none is given; its connection is open until the test ends. */
async function uploader(t: Test, body: Buffer, options: UploaderOptions = {}) {
  const { user, at = port, headers } = options;
  const { id, token } = user ?? (await createUser(app));
  const connection = await rawConnection(at);
  t.teardown(() => connection.socket.destroy());
  const start = (sent = body.length) => {
    connection.send(head(body.length, { authorization: `Bearer ${token}`, ...headers }));
    connection.send(body.subarray(0, sent));
  };
  return { ...connection, start, states: () => statesOf(id) };
}

t.test('uploads from one address that fill the memory lose it to those from others', async (t) => {
  holdTimers(t, checkInterval);
  const behindProxy = await app.startInstance({ DATA_DIR: directory, TRUST_PROXY: '127.0.0.1' }, { storage });
  const at = await listen(behindProxy.app);
  const open = async (address: string, body: Buffer, sent = body.length) => {
    const headers = { 'x-forwarded-for': address };
    const [served, one] = await Promise.all([
      nextConnection(behindProxy.app),
      uploader(t, body, { at, headers }),
    ]);
    one.start(sent);
    await until('its bytes', () => served.bytesRead >= sent);
    return one;
  };
  const photo = fileOf(Buffer.concat([await plainImage(), Buffer.alloc(400_000)]));
  const part = 100_000;
  const slow = await open('192.0.2.2', photo, part);
  const stalled = [];
  // All but 60 kB of the memory.
  for (const size of [...Array(6).fill(9_900_000), 7_550_000])
    stalled.push(await open('192.0.2.1', fileOf(Buffer.alloc(size)), size));
  const rejection = Promise.race(stalled.map(({ response }) => response()));
  for (let turn = 1; turn <= 3; turn++) {
    const other = await open(`192.0.2.${turn + 2}`, photo);
    t.equal((await other.response()).status, 201);
    slow.send(photo.subarray(turn * part, (turn + 1) * part));
  }
  unavailable(t, await rejection);
  slow.send(photo.subarray(4 * part));
  t.equal((await slow.response()).status, 201, 'the oldest one, from another address');
});

t.test('uploads of one user that stall do not stop those of others', async (t) => {
  const check = holdTimers(t, checkInterval);
  const large = fileOf(Buffer.alloc(9_000_000));
  const user = await createUser(app);
  const open = async () => {
    const one = await uploader(t, large, { user });
    one.start(large.length - 1_000);
    return one;
  };
  const [first, second] = [await open(), await open()];
  await until('two uploads', async () => (await first.states()).length === 2);
  for (const { response } of await inParallel(9, open))
    rejected(t, await response(), 429, 'rate_limited', { retry_after: 2 });
  const others = await inParallel(3, () => uploader(t, smallImage));
  for (const { start } of others) start();
  for (const { response } of others) t.equal((await response()).status, 201);
  t.strictSame(await first.states(), ['pending', 'pending'], 'two are read');
  // Most of the image arrived in the first interval, and nothing in the second one.
  check();
  check();
  for (const { response } of [first, second]) {
    const late = await response();
    rejected(t, late, 408, 'request_timeout');
    t.ok(late.closed);
  }
  t.strictSame(await first.states(), [], 'nothing is kept of them');
});

t.test('users take turns, one large image at a time, and no more wait than time allows', async (t) => {
  const begun: string[] = [];
  const running = { all: 0, large: 0 };
  const most = { ...running };
  const queue = createConversionQueue(async (file, size) => {
    const name = file.toString();
    begun.push(name);
    const isLarge = size === 'large' ? 1 : 0;
    running.all++;
    running.large += isLarge;
    most.all = Math.max(most.all, running.all);
    most.large = Math.max(most.large, running.large);
    await nextTurn();
    running.all--;
    running.large -= isLarge;
    if (name === 'large' && size === 'small') return undefined;
    return { large: file, thumbnail: file, width: 1, height: 1 };
  });
  const convert = (user: number, name = 'small') => queue.convert(user, Buffer.from(name), () => false);
  const first = [convert(1), convert(1, 'second'), convert(2, 'large'), convert(3, 'large'), convert(4)];
  await Promise.all(first);
  const early = begun.slice(0, 4).sort();
  t.strictSame(early, ['large', 'large', 'small', 'small'], 'every user before the second image');
  t.strictSame(most, { all: 2, large: 1 });
  const many = await Promise.allSettled(Array.from({ length: 30 }, (_, user) => convert(user)));
  const converted = many.filter(({ status }) => status === 'fulfilled').length;
  t.ok(converted >= 20 && converted <= 22, `${converted}`);
  t.equal(queue.waiting(), 0);
});

/** Stops the process that converts an image, where there is one. @returns its id */
function stopProcess(): number | undefined {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ');
  const isConversion = (pid: string) =>
    existsSync(`/proc/${pid}/cmdline`) &&
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`${process.execPath}\0`);
  const [pid] = children.filter((child) => child !== '' && isConversion(child)).map(Number);
  if (pid !== undefined) process.kill(pid, 'SIGSTOP');
  return pid;
}

/** Uploads until a conversion is stopped, because on a busy machine one may be over before it is seen. */
async function stopConversion(t: Test, at: number, body: Buffer) {
  for (;;) {
    const upload = await uploader(t, body, { at });
    upload.start();
    const isAnswered = () => upload.socket.bytesRead > 0;
    const pid = await until('a conversion', () => stopProcess() ?? (isAnswered() ? -1 : undefined));
    if (pid > 0) return { pid, upload };
  }
}

t.test('what an image does to its decoder ends the conversion, and nothing else', async (t) => {
  const limited = await app.startInstance(
    { DATA_DIR: directory },
    // Longer than the conversion has, also where the test itself is paused.
    { storage, serverErrors: true, productionLimits: true, timeLimit: atMost(9_000) },
  );
  const at = await listen(limited.app);
  const phoneImage = fileOf(await plainImage(4_000, 3_000));
  const cases = [
    ['SIGSEGV', 400, 'invalid_image'],
    ['SIGKILL', 503, 'service_unavailable'],
  ] as const;
  for (const [signal, status, code] of cases) {
    const { pid, upload: victim } = await stopConversion(t, at, phoneImage);
    t.match(await readFile(`/proc/${pid}/limits`, 'utf8'), /^Max data size +402653184 .*$/m);
    t.match(await readFile(`/proc/${pid}/limits`, 'utf8'), /^Max cpu time +8 .*$/m);
    t.notMatch(await readFile(`/proc/${pid}/environ`, 'utf8'), /PATH|SECRET|URL/);
    process.kill(pid, signal);
    process.kill(pid, 'SIGCONT');
    rejected(t, await victim.response(), status, code);
    t.strictSame(await victim.states(), []);
  }
  // One that hangs has half of the turns, until it is killed.
  const { pid, upload: hung } = await stopConversion(t, at, phoneImage);
  for (let index = 0; index < 3; index++)
    await until('an image beside it', async () => {
      const other = await uploader(t, smallImage, { at });
      other.start();
      return (await other.response()).status === 201;
    });
  const response = await hung.response().catch(hung.response);
  rejected(t, response, 503, 'service_unavailable');
  t.match(response.body.message, '사진을 처리하는 데 시간이 너무 오래 걸립니다.');
  t.notOk(existsSync(`/proc/${pid}`));
  await until('the end of its row', async () => (await hung.states()).length === 0);
});

t.test('none of this is an error of the service', async (t) => {
  const errors = app.logs.filter((line) => !/no response after|fill the memory/.test(line));
  noErrorLogged(t, errors);
});
