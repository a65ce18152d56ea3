import { readdir } from 'node:fs/promises';
import t from 'tap';
import { createConversionQueue } from '../../src/images/conversion/queue.ts';
import { createTestApp, createUser } from '../support/app.ts';
import { noErrorLogged, refused, unavailable } from '../support/assertions.ts';
import { multipart, multipartType, plainPicture } from '../support/images.ts';
import { listen, rawConnection } from '../support/raw-http.ts';
import { until } from '../support/until.ts';

const directory = t.testdir();
/** Resolves once the test lets the storage answer. */
let hanging: Promise<void> | undefined;
const storage = { put: async () => hanging, delete: async () => undefined };
const app = await createTestApp({ DATA_DIR: directory, WORKER_ENABLED: 'false' }, { storage });
t.teardown(app.close);
const port = await listen(app.app);
const { token, id: userId } = await createUser(app);
const picture = multipart({ name: 'image', content: await plainPicture(), filename: 'a.jpg' });

function head(length: number, headers: Record<string, string> = {}): string {
  const lines = {
    host: 'localhost',
    authorization: `Bearer ${token}`,
    ...multipartType,
    'content-length': String(length),
    ...headers,
  };
  const fields = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /api/v1/images/ HTTP/1.1\r\n${fields.join('')}\r\n`;
}

async function rows(): Promise<unknown[]> {
  return (await app.pool.query('SELECT id, state FROM images WHERE user_id = $1', [userId])).rows;
}

t.test(
  'a refused upload leaves the connection usable, however much of the body is still to come',
  async (t) => {
    const file = multipart({ name: 'image', content: Buffer.alloc(12 * 1024 * 1024), filename: 'a.jpg' });
    const other = multipart({ name: 'photo', content: Buffer.alloc(3 * 1024 * 1024), filename: 'a.jpg' });
    const cases = [
      [file, {}, 413, 'payload_too_large'],
      [other, {}, 400, 'validation_error'],
      [other, { authorization: '' }, 401, 'not_authenticated'],
      [other, { 'content-type': 'image/jpeg' }, 415, 'unsupported_media_type'],
    ] as const;
    for (const [body, headers, status, code] of cases) {
      const connection = await rawConnection(port);
      connection.send(head(body.length, headers));
      connection.send(body);
      connection.send(head(picture.length));
      connection.send(picture);
      const answer = await connection.answer();
      t.match({ status: answer.status, code: answer.body.data.code }, { status, code });
      const next = await connection.answer();
      t.equal(next.status, 201, `${code}: the next request is answered`);
      connection.socket.destroy();
    }
    // Without a length, the size is known only while reading.
    const connection = await rawConnection(port);
    connection.send(
      head(0, { 'content-length': '' }).replace('content-length: \r\n', 'transfer-encoding: chunked\r\n'),
    );
    connection.send(`${file.length.toString(16)}\r\n`);
    connection.send(file);
    const answer = await connection.answer();
    refused(t, answer, 413, 'payload_too_large');
    connection.socket.destroy();
  },
);

t.test('an upload that is cut in the middle is not kept', async (t) => {
  const before = await rows();
  for (const sent of [0, 60, picture.length - 30]) {
    const connection = await rawConnection(port);
    connection.send(head(picture.length));
    connection.send(picture.subarray(0, sent));
    const received = app.logs.length;
    connection.socket.destroy();
    await until('the end of the request', () => app.logs.length > received);
  }
  t.strictSame(await rows(), before);
  t.strictSame(await readdir(directory), [], 'and no file');
});

t.test('the time of a slow client does not count, that of the storage does', async (t) => {
  const limited = await createTestApp(
    { DATA_DIR: directory, WORKER_ENABLED: 'false' },
    { storage, timeLimit: 1_000, databaseUrl: app.url },
  );
  t.teardown(limited.close);
  const limitedPort = await listen(limited.app);
  const slow = await rawConnection(limitedPort);
  slow.send(head(picture.length));
  slow.send(picture.subarray(0, 100));
  // A second upload begins, hangs in the storage and is answered, while the first one is still being sent.
  let release = () => {};
  hanging = new Promise((resolve) => {
    release = resolve;
  });
  const hung = await rawConnection(limitedPort);
  hung.send(head(picture.length));
  hung.send(picture);
  unavailable(t, await hung.answer());
  t.equal(slow.socket.bytesRead, 0, 'the slow one has its time');
  hanging = undefined;
  release();
  slow.send(picture.subarray(100));
  t.match(String((await slow.answer()).status), /201|503/, 'and an answer, also on a busy machine');
  slow.socket.destroy();
  hung.socket.destroy();
});

t.test('uploads hold at most 64 MiB in memory', async (t) => {
  const part = multipart({ name: 'image', content: Buffer.alloc(9_900_000), filename: 'a.jpg' });
  const connections = await Promise.all(Array.from({ length: 8 }, () => rawConnection(port)));
  for (const { send } of connections) {
    send(head(part.length));
    // All but the end, so that none of them is complete.
    send(part.subarray(0, -100));
  }
  const answers = await Promise.race(connections.map((connection) => connection.answer()));
  unavailable(t, answers);
  for (const { socket } of connections) socket.destroy();
  const retried = await until('memory for the next upload', async () => {
    const connection = await rawConnection(port);
    connection.send(head(picture.length));
    connection.send(picture);
    const { status } = await connection.answer();
    connection.socket.destroy();
    return status === 201;
  });
  t.ok(retried);
});

t.test('users take turns, and one user cannot fill the queue of conversions', async (t) => {
  const queue = createConversionQueue(1);
  const begun: string[] = [];
  const convert = (user: number, name: string) =>
    queue.convert(user, Buffer.alloc(0), {
      isObsolete: () => {
        begun.push(name);
        return true;
      },
      onDecode: () => t.fail('the work is for nothing'),
    });
  const many = Array.from({ length: 20 }, (_, n) => convert(1, `first ${n}`));
  await Promise.allSettled([...many, convert(2, 'second'), convert(3, 'third')]);
  t.strictSame(begun.slice(0, 4), ['first 0', 'second', 'third', 'first 1']);
  t.equal(begun.length, 13, 'one runs and ten wait of the first user');
  t.equal(queue.waiting(), 0);
});

t.test('none of this is an error of the service', async (t) => {
  const errors = app.logs.filter(
    (line) => !line.includes('no answer after') && !line.includes('fill the memory'),
  );
  noErrorLogged(t, errors);
});
