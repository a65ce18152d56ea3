import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { addLongPosts } from './data.ts';
import { memory, resetPeakMemory } from './processes.ts';
import { type MeasuredServer, withService } from './servers.ts';

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
const [count = 1, requests = 1, seconds = 1] = [values.connections, values.requests, values.seconds].map(
  Number,
);

/** Opens connections that read nothing. @returns what to print */
async function stall({ pid, url }: MeasuredServer, path: string, headers = ''): Promise<string> {
  const { hostname, port } = new URL(url);
  await resetPeakMemory(pid);
  const before = await memory(pid);
  const files = (await readdir(`/proc/${pid}/fd`)).length;
  const request = `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n${headers}\r\n`.repeat(requests);
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connect({ port: Number(port), host: hostname }).pause();
    socket.on('error', () => undefined);
    socket.write(request);
    sockets.push(socket);
    await sleep(20);
  }
  await sleep(seconds * 1_000);
  const { resident, peak } = await memory(pid);
  const open = (await readdir(`/proc/${pid}/fd`)).length - files;
  for (const socket of sockets) socket.destroy();
  await sleep(2_000);
  const figures = [before.resident, peak, resident].map((figure) => figure.toFixed(0));
  return `${path}: ${figures.join(', ')} MiB before, at most, after; ${open} of ${count} connections are open\n`;
}

await withService({}, async (server, [user]) => {
  if (!user) throw new Error('there are no users');
  await addLongPosts(server.databaseUrl, user.postId, 100);
  process.stdout.write(await stall(server, '/openapi.yaml'));
  const token = `Authorization: Bearer ${user.access}\r\n`;
  process.stdout.write(await stall(server, '/api/v1/posts/?limit=100', token));
});
