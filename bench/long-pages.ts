import { Agent } from 'node:http';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { addLongPosts } from './data.ts';
import { getStatus, summarize } from './load.ts';
import { memory } from './processes.ts';
import { withService } from './servers.ts';
import { probeOthers } from './streams/watch.ts';

/*
 * npm run bench -- long-pages
 *
 * `GET /auth/me/` of one user while another one reads pages of the longest posts on 60 connections. Limits are on.
 */

const connections = 60;
const milliseconds = 14_000;

await withService({ RATE_LIMIT_ENABLED: 'true' }, async (server, [reader, other]) => {
  if (!reader || !other) throw new Error('there are no users');
  await addLongPosts(server.databaseUrl, reader.postId, 120);
  const agent = new Agent({ keepAlive: true });
  const end = Date.now() + milliseconds;
  const statuses: Record<string, number> = {};
  const probe = probeOthers(server, other);
  const reading = Array.from({ length: connections }, async () => {
    while (Date.now() < end) {
      const status = await getStatus(`${server.url}/api/v1/posts/?limit=100`, reader.access, agent);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status !== 200) await sleep(1_000);
    }
  });
  await Promise.all(reading);
  const { times, rejected } = await probe.stop();
  agent.destroy();
  const { p50, p90, p99 } = summarize(times, 1);
  const [median, most, worst] = [p50, p90, p99].map((time) => time.toFixed(0));
  const { peak } = await memory(server.pid);
  process.stdout.write(`me     p50 ${median} ms, p90 ${most}, p99 ${worst}; ${rejected} rejected\n`);
  process.stdout.write(`pages  ${JSON.stringify(statuses)}, at most ${peak.toFixed(0)} MiB\n`);
});
