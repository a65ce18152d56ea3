import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchUser } from './data.ts';
import { summarize } from './load.ts';
import { cpuTime, hasProc, memory } from './processes.ts';
import { type MeasuredServer, type startDatabase, startMeasuredService } from './servers.ts';

/** The service allows ten. */
const streamsPerUser = 5;
const requests = 200;
const requestsPerSecond = 10;

interface Options {
  database: Awaited<ReturnType<typeof startDatabase>>;
  users: BenchUser[];
  /** How many to open. */
  streams: number;
}

/** When each stream of a user got a notification, by the id of the request that it is about. */
type Arrivals = Map<number, number[]>;

/**
 * Opens many notification streams on one instance and creates requests whose receivers have some of them.
 *
 * @returns what failed
 */
export async function measureStreams(say: (line: string) => void, options: Options): Promise<string[]> {
  const { database, users } = options;
  const wanted = Math.min(options.streams, maxOpenFiles() - 500);
  if (wanted < options.streams) say(`The limit of open files allows ${wanted} streams (ulimit -n).`);
  const service = await startMeasuredService(database.url, database.mailUrl);
  // Without keep-alive: each stream has a connection.
  const agent = new Agent({ keepAlive: false });
  const arrivals: Arrivals = new Map();
  try {
    // The engine compiles the route.
    for (const user of users.slice(0, 20)) (await openStream(service, user, agent, arrivals)).destroy();
    const before = await rest(service);
    const receivers = users.slice(200, 200 + wanted / streamsPerUser);
    const opened: IncomingMessage[] = [];
    const started = performance.now();
    for (const user of receivers) {
      const open = () => openStream(service, user, agent, arrivals);
      opened.push(...(await Promise.all(Array.from({ length: streamsPerUser }, open))));
    }
    const took = (performance.now() - started) / 1000;
    const after = await rest(service);
    const perStream = ((after.live - before.live) * 1024) / opened.length;
    say('');
    say(
      `${opened.length} streams of ${receivers.length} users on one instance, opened in ${took.toFixed(1)} s:`,
    );
    say(`- resident memory ${before.resident.toFixed(0)} MiB before, ${after.resident.toFixed(0)} MiB after`);
    say(
      `- live memory of JavaScript ${before.live.toFixed(0)} MiB before, ${after.live.toFixed(0)} MiB after:`,
    );
    say(`  ${perStream.toFixed(1)} KiB for each stream`);
    say(
      `- CPU without events (heartbeats, checks of sessions): ${(after.cores * 100).toFixed(1)} % of a core`,
    );
    const failures = await measureDelay(say, service, users, receivers, arrivals);
    for (const stream of opened) stream.destroy();
    return failures;
  } finally {
    agent.destroy();
    await service.end();
  }
}

/** How many files this process may open; the service inherits it. */
function maxOpenFiles(): number {
  if (!hasProc) return Number.POSITIVE_INFINITY;
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]);
}

/** Resolves with the first event. */
function openStream(
  { url }: MeasuredServer,
  user: BenchUser,
  agent: Agent,
  arrivals: Arrivals,
): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${user.access}` };
  return new Promise((resolve, reject) => {
    const request = get(`${url}/api/v1/notifications/stream/`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a stream was answered with ${response.statusCode}`));
      response.setEncoding('utf8').on('data', (text: string) => {
        resolve(response);
        const now = performance.now();
        for (const [, id] of text.matchAll(/"partner_request":\{"id":(\d+)/g)) {
          arrivals.set(Number(id), [...(arrivals.get(Number(id)) ?? []), now]);
        }
      });
      // The end of the measurement closes the connections.
      response.on('error', () => undefined);
    });
    request.on('error', reject);
  });
}

/**
 * What an instance uses without requests: memory in MiB, and cores. Live memory is the least that was seen, which is what a
 * garbage collection leaves; resident memory has garbage and free pages, too.
 */
async function rest({ pid, url }: MeasuredServer) {
  const seconds = 15;
  const before = await cpuTime(pid);
  let live = Number.POSITIVE_INFINITY;
  for (let second = 0; second < seconds; second++) {
    await sleep(1000);
    live = Math.min(live, await liveMemory(url));
  }
  const { resident } = await memory(pid);
  return { live, resident, cores: ((await cpuTime(pid)) - before) / 1e6 / seconds };
}

/** The heap of JavaScript and what it owns outside, in MiB. */
async function liveMemory(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
  return (read('nodejs_heap_size_used_bytes') + read('nodejs_external_memory_bytes')) / 2 ** 20;
}

/** Creates requests at a steady pace, and compares when each was answered with when its receiver's streams got it. */
async function measureDelay(
  say: (line: string) => void,
  { url }: MeasuredServer,
  users: BenchUser[],
  receivers: BenchUser[],
  arrivals: Arrivals,
): Promise<string[]> {
  const failures: string[] = [];
  const sent = await Promise.all(
    Array.from({ length: requests }, async (_, index) => {
      await sleep((index * 1000) / requestsPerSecond);
      // Senders have no streams, and have sent no other requests.
      const sender = users[10 + (index % 90)];
      const receiver = receivers[(index * 7) % receivers.length];
      const started = performance.now();
      const response = await fetch(`${url}/api/v1/notifications/partner-request/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sender?.access}`, 'content-type': 'application/json' },
        body: JSON.stringify({ post_id: receiver?.postId, message: '함께 해요!' }),
      });
      const answered = performance.now();
      const { data } = JSON.parse(await response.text());
      if (response.status !== 201) failures.push(`a request was answered with ${response.status}`);
      return { id: Number(data.id), started, answered };
    }),
  );
  // A late event is late, not lost.
  const end = performance.now() + 10_000;
  const isComplete = ({ id }: { id: number }) => arrivals.get(id)?.length === streamsPerUser;
  while (!sent.every(isComplete) && performance.now() < end) await sleep(100);
  const delays = sent.map(({ id, started, answered }) => {
    const times = arrivals.get(id) ?? [];
    if (times.length !== streamsPerUser)
      failures.push(`${times.length} of ${streamsPerUser} streams got an event`);
    return times.map((time) => ({ afterRequest: time - started, afterAnswer: time - answered }));
  });
  const describe = (times: number[]) => {
    const { p50, p99 } = summarize(times, 1);
    return `${p50.toFixed(1)} ms (p50), ${p99.toFixed(1)} ms (p99)`;
  };
  say(`- an event after the answer to the request that caused it, at ${requestsPerSecond} requests/s:`);
  say(`  ${describe(delays.flat().map(({ afterAnswer }) => afterAnswer))}`);
  say(`- after the request was sent: ${describe(delays.flat().map(({ afterRequest }) => afterRequest))}`);
  return failures;
}
