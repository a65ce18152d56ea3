import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../src/embedded-postgres/server.ts';
import { execute } from '../test/support/database.ts';
import { startService } from '../test/support/service.ts';
import { memory } from './processes.ts';
import { createShop } from './visits.ts';

/*
 * npm run bench -- slow-readers [--connections 200] [--requests 8] [--seconds 45]
 *
 * Memory of the service while clients ask for large responses and read nothing: one user for pages of posts, and one address
 * without a user for the document. Each connection sends some requests at once.
 */

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    connections: { type: 'string', default: '200' },
    requests: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '45' },
  },
});
const [count, requests, seconds] = [values.connections, values.requests, values.seconds].map(Number);

const directory = await mkdtemp(join(tmpdir(), 'dure-bench-'));
const postgres = await startEmbeddedServer({ directory: join(directory, 'postgres') });
const service = await startService(
  { DATABASE_URL: postgres.url, DATA_DIR: directory, WORKER_ENABLED: 'false', RATE_LIMIT_ENABLED: 'false' },
  ['--max-semi-space-size=8', '--enable-source-maps', 'dist/server.js'],
);
const pid = service.child.pid ?? 0;
const { hostname, port } = new URL(service.url);

/** Opens connections that read nothing. @returns what to print */
async function stall(what: string, path: string, headers = ''): Promise<string> {
  const before = await memory(pid);
  const files = (await readdir(`/proc/${pid}/fd`)).length;
  const request = `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n${headers}\r\n`.repeat(requests ?? 1);
  const sockets: Socket[] = [];
  for (let index = 0; index < (count ?? 1); index++) {
    const socket = connect({ port: Number(port), host: hostname }).pause();
    socket.on('error', () => undefined);
    socket.write(request);
    sockets.push(socket);
    await sleep(20);
  }
  await sleep((seconds ?? 1) * 1_000);
  const { resident, peak } = await memory(pid);
  const open = (await readdir(`/proc/${pid}/fd`)).length - files;
  for (const socket of sockets) socket.destroy();
  await sleep(2_000);
  const figures = [before.resident, peak, resident].map((figure) => figure.toFixed(0));
  return `${what}: ${figures.join(', ')} MiB before, at most, after; ${open} of ${count} connections are open\n`;
}

try {
  const { access, postId } = await createShop(service.url, 1);
  await execute(
    postgres.url,
    `INSERT INTO posts (store_id, title, content, images)
     SELECT store_id, repeat('가', 100), repeat('가', 5000), array_fill('https://a.example/' || repeat('a', 2000), ARRAY[10])
     FROM posts, generate_series(1, 100) WHERE id = ${postId}`,
  );
  process.stdout.write(await stall('document', '/openapi.yaml'));
  process.stdout.write(
    await stall('pages of posts', '/api/v1/posts/?limit=100', `Authorization: Bearer ${access}\r\n`),
  );
} finally {
  await service.end();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}
