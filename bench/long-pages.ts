import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedServer } from '../src/embedded-postgres/server.ts';
import { execute } from '../test/support/database.ts';
import { startService } from '../test/support/service.ts';
import { memory } from './processes.ts';
import { createShop } from './visits.ts';

/*
 * npm run bench -- long-pages
 *
 * `GET /auth/me/` of one user while another one reads pages of the longest posts on 60 connections. Limits are on.
 */

const connections = 60;
const milliseconds = 14_000;

/** Sends a request, and reads and forgets the response. @returns the status */
function get(url: string, token: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    request(url, { agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });
}

const directory = await mkdtemp(join(tmpdir(), 'dure-bench-'));
const postgres = await startEmbeddedServer({ directory: join(directory, 'postgres') });
const service = await startService(
  { DATABASE_URL: postgres.url, DATA_DIR: directory, WORKER_ENABLED: 'false' },
  ['--max-semi-space-size=8', '--enable-source-maps', 'dist/server.js'],
);
const agent = new Agent({ keepAlive: true });
try {
  const reader = await createShop(service.url, 1);
  const other = await createShop(service.url, 2);
  await execute(
    postgres.url,
    `INSERT INTO posts (store_id, title, content, images)
     SELECT store_id, repeat('가', 100), repeat('가', 5000), array_fill('https://a.example/' || repeat('a', 2000), ARRAY[10])
     FROM posts, generate_series(1, 120) WHERE id = ${reader.postId}`,
  );
  const end = Date.now() + milliseconds;
  const statuses: Record<string, number> = {};
  const reading = Array.from({ length: connections }, async () => {
    while (Date.now() < end) {
      const status = String(await get(`${service.url}/api/v1/posts/?limit=100`, reader.access, agent));
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status !== '200') await sleep(1_000);
    }
  });
  const times: number[] = [];
  while (Date.now() < end) {
    const began = performance.now();
    const status = await get(`${service.url}/auth/me/`, other.access, agent);
    if (status !== 200) throw new Error(`me was answered ${status}`);
    times.push(performance.now() - began);
    await sleep(50);
  }
  await Promise.all(reading);
  const sorted = times.sort((a, b) => a - b);
  const at = (share: number) => `${sorted[Math.floor(share * sorted.length)]?.toFixed(0)} ms`;
  const { peak } = await memory(service.child.pid ?? 0);
  process.stdout.write(`me     median ${at(0.5)}, p90 ${at(0.9)}, worst ${sorted.at(-1)?.toFixed(0)} ms\n`);
  process.stdout.write(`pages  ${JSON.stringify(statuses)}, at most ${peak.toFixed(0)} MiB\n`);
} finally {
  agent.destroy();
  await service.end();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}
