import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { contract, type DocumentedOperation } from '../test/support/contract.ts';
import { type BodySchema, badBodies } from './bad-bodies.ts';
import { cpuTime, memory, peakWithChildren } from './processes.ts';
import { type MeasuredServer, withService } from './servers.ts';

/*
 * npm run bench -- rejections [--repeat 20] [--operation createPost] [--size 131072] [--only pieces]
 *
 * CPU time that the service spends on bodies that it rejects: for every operation the most expensive one, as large as the limit
 * allows, beside the smallest one, which is the price of the request itself. Before that, on targets and headers that are as
 * expensive as 16 KB of head allow, beside a plain request. First of all, what bodies in many pieces cost.
 */

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    repeat: { type: 'string', default: '20' },
    operation: { type: 'string' },
    size: { type: 'string' },
    only: { type: 'string' },
  },
});
const repeat = Number(values.repeat);
if (!(repeat >= 1 && repeat <= 1_000)) throw new Error('--repeat is 1 to 1000');

const { document, operations } = contract;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

type Schema = BodySchema & { $ref?: string; oneOf?: Schema[]; properties?: Record<string, BodySchema> };

function propertiesOf({ $ref, oneOf, properties = {} }: Schema): Record<string, BodySchema> {
  if ($ref !== undefined) {
    return propertiesOf((document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}) as Schema);
  }
  return oneOf === undefined ? properties : Object.assign({}, ...oneOf.map(propertiesOf));
}

function bodySchema({ requestBody }: DocumentedOperation): Schema | undefined {
  return requestBody?.content['application/json']?.schema as Schema | undefined;
}

function send(
  url: string,
  method: string,
  path: string,
  token: string | undefined,
  body: string,
  others: Record<string, string> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...others,
    };
    const sent = request(url, { method, path, agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject).end(body);
  });
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
}

const batches = 3;

/**
 * CPU milliseconds for one request, with its share of garbage collection: the median of some batches, because a compilation by
 * the engine falls into one of them. 0 when the body is not what is rejected.
 */
async function measure(url: string, one: () => Promise<number>, statuses = [400, 413]): Promise<number> {
  for (let index = 0; index < 5; index++) if (!statuses.includes(await one())) return 0;
  const times: number[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const before = await cpuSeconds(url);
    for (let index = 0; index < repeat; index++) await one();
    times.push((((await cpuSeconds(url)) - before) / repeat) * 1_000);
  }
  return times.sort((a, b) => a - b)[Math.floor(batches / 2)] ?? 0;
}

const [longest, head] = [2_048, 15_500];

/** Targets and headers of a `GET`. */
const heads: [what: string, path: string, headers?: Record<string, string>][] = [
  ['a plain request', '/api/v1/posts/x/'],
  ['13,500 percent signs', `/auth/${'%'.repeat(13_500)}`],
  ['as many as are read', `/auth/${'%'.repeat(longest - 6)}`],
  ['a long absolute target', `http://${'a'.repeat(13_500)}/auth/me/`],
  ['many slashes', '/a'.repeat(longest / 2)],
  ['many parameters', `/api/v1/posts/?${'a=&'.repeat(longest / 3 - 10)}`],
  [
    'many unknown parameters',
    `/api/v1/posts/?${Array.from({ length: 330 }, (_, n) => `a${n}=1`).join('&')}`.slice(0, longest),
  ],
  ['encoded parameters', `/api/v1/posts/?q=${'%EA%B0%80'.repeat(220)}`],
  ['a long cursor', `/api/v1/posts/?cursor=${'a'.repeat(2_000)}`],
  ['a long id', `/api/v1/posts/${'9'.repeat(2_000)}/`],
  ['many languages', '/api/v1/posts/x/', { 'accept-language': 'en;q=0.5,'.repeat(head / 9) }],
  [
    'different languages',
    '/api/v1/posts/x/',
    { 'accept-language': Array.from({ length: 3_000 }, (_, n) => n.toString(36)).join(',') },
  ],
  ['many forwarded addresses', '/api/v1/posts/x/', { 'x-forwarded-for': '127.0.0.1,'.repeat(head / 10) }],
  ['a long token', '/api/v1/posts/x/', { authorization: `Bearer ${'a'.repeat(head)}` }],
  ['a token of dots', '/api/v1/posts/x/', { authorization: `Bearer ${'.'.repeat(head)}` }],
  ['many entity tags', '/api/v1/notifications/unread-count/', { 'if-none-match': '"a",'.repeat(head / 4) }],
  ['many ranges', '/docs/static/swagger-ui.css', { range: `bytes=${'9999999-,'.repeat(head / 9)}` }],
  ['many media types', '/', { accept: 'text/x;q=0.5,'.repeat(head / 13) }],
  ['a long origin', '/api/v1/posts/x/', { origin: `https://${'a'.repeat(head)}` }],
  ['a long type', '/api/v1/posts/x/', { 'content-type': `a/b${'; a=b'.repeat(head / 5)}` }],
  [
    'many headers',
    '/api/v1/posts/x/',
    Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`a${n}`, 'b'])),
  ],
];

/** Sends requests on a connection each and waits. @returns the CPU time of the service, its longest time without an answer, and its memory */
async function measurePieces({ url, pid }: MeasuredServer, count: number, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const before = await memory(pid);
  const cpuBefore = await cpuTime(pid);
  let [isOver, longest] = [false, 0];
  const probe = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await fetch(`${url}/health/live`);
      longest = Math.max(longest, performance.now() - startedAt);
    }
  })();
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  for (const socket of sockets)
    socket
      .on('error', () => undefined)
      .resume()
      .write(text);
  const peak = await peakWithChildren(pid, sleep(5_000));
  isOver = true;
  await probe;
  for (const socket of sockets) socket.destroy();
  const cpu = ((await cpuTime(pid)) - cpuBefore) / 1_000;
  return `${cpu.toFixed(0)} ms of CPU, ${longest.toFixed(0)} ms without an answer, ${(peak - before.resident).toFixed(0)} MiB more\n`;
}

/** An upload of nothing but boundaries, and JSON whose chunks have one byte each and do not end. */
async function reportPieces(server: MeasuredServer, token: string): Promise<void> {
  const boundaries = '--b\r\n'.repeat(800_000);
  const type = 'content-type: multipart/form-data; boundary=b';
  const upload = `POST /api/v1/images/ HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n${type}\r\ncontent-length: ${boundaries.length}\r\n\r\n`;
  const chunked = 'content-type: application/json\r\ntransfer-encoding: chunked';
  const chunks = `POST /auth/logout/ HTTP/1.1\r\nhost: x\r\n${chunked}\r\n\r\n${'1\r\n \r\n'.repeat(32_000)}`;
  process.stdout.write(`40 x 32,000 chunks: ${await measurePieces(server, 40, chunks)}`);
  process.stdout.write(`800,000 boundaries: ${await measurePieces(server, 1, upload + boundaries)}`);
}

await withService({ DOCS_ENABLED: 'true', TRUST_PROXY: '127.0.0.1' }, async (server, [user]) => {
  if (!user) throw new Error('there are no users');
  const { url } = server;
  const { access, postId } = user;
  await reportPieces(server, access);
  if (values.only === 'pieces') return;
  // Until the engine has compiled what every request needs.
  for (let index = 0; index < 1_000; index++) {
    await send(url, 'POST', '/auth/login/', undefined, '{"unknown":1}');
    await send(url, 'GET', '/api/v1/posts/x/', access, '');
  }
  for (const [what, path, headers] of values.operation === undefined ? heads : []) {
    const one = () => send(url, 'GET', path, access, '', headers);
    const status = await one();
    const time = await measure(url, one, [status]);
    process.stdout.write(`${time.toFixed(2)} ms  ${status}  ${what}\n`);
  }
  let worst = 0;
  for (const operation of operations) {
    const schema = bodySchema(operation);
    const { operationId, method, path, security = [] } = operation;
    const token = security.length > 0 && security.every((one) => 'bearer' in one) ? access : undefined;
    if (schema === undefined || (values.operation ?? operationId) !== operationId) continue;
    const limit = Number(values.size ?? (operationId.endsWith('Post') ? 128 : 32) * 1024);
    const target = path.replace('{post_id}', String(postId)).replace(/\{\w+\}/, '2147483647');
    const timed: { shape: string; time: number }[] = [];
    for (const { shape, text } of badBodies(propertiesOf(schema), limit)) {
      timed.push({ shape, time: await measure(url, () => send(url, method, target, token, text)) });
    }
    const smallest = await measure(url, () => send(url, method, target, token, '{"unknown":1}'));
    if (values.operation)
      for (const one of timed) process.stdout.write(`${one.time.toFixed(2)} ms  ${one.shape}\n`);
    const [slowest] = timed.sort((a, b) => b.time - a.time);
    worst = Math.max(worst, slowest?.time ?? 0);
    const figures = `${slowest?.time.toFixed(2)} ms  (smallest ${smallest.toFixed(2)} ms)`;
    process.stdout.write(`${operationId.padEnd(26)} ${figures.padEnd(32)} ${slowest?.shape}\n`);
  }
  process.stdout.write(`The most expensive rejection took ${worst.toFixed(2)} ms of CPU.\n`);
});
agent.destroy();
