import { readdir } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import PQueue from 'p-queue';
import { execute } from '../test/support/database.ts';
import { readUsers } from './data.ts';
import { startDatabase, startMeasuredService } from './servers.ts';
import { connect, maxOpenFiles, type StreamClient, untilAll } from './streams/clients.ts';
import { interruptListener, markRead, notifyAll, sendRequests } from './streams/events.ts';
import { describe, readMemory, watch } from './streams/watch.ts';

/*
 * npm run bench -- streams [--streams 10000] [--restart]
 *
 * What many open notification streams, each of a user of its own, cost on one instance. Takes about five minutes; with
 * `--restart` only what happens when the instance is replaced, in one.
 */

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { streams: { type: 'string', default: '10000' }, restart: { type: 'boolean', default: false } },
});
const wanted = Number(values.streams);
if (!(wanted >= 100 && wanted <= 30_000)) throw new Error('--streams is 100 to 30000');
const count = Math.min(wanted, maxOpenFiles() - 500);

const say = (line: string) => process.stdout.write(`${line}\n`);
const sayRow = (name: string, cells: string[]) => say(`| ${[name, ...cells].join(' | ')} |`);
if (count < wanted) say(`The limit of open files allows ${count} streams (ulimit -n).`);
say(`Load average ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores.`);

const database = await startDatabase();
try {
  // Users without a store: they only listen.
  await execute(
    database.url,
    `WITH made AS (
       INSERT INTO users (username, email, name, password_hash)
       SELECT 'stream' || n, 'stream' || n || '@example.com', '이두레', 'x' FROM generate_series(1, ${count}) n RETURNING id)
     INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
     SELECT gen_random_uuid(), id, '{}', 'bench', '127.0.0.1', now() + interval '1 day' FROM made`,
    'ANALYZE users, sessions',
  );
  const users = await readUsers(database.url);
  const senders = users.slice(10, 110);
  const listeners = users.slice(200, 200 + count);
  const owners = listeners.filter(({ postId }) => postId !== null).slice(0, 400);
  const [prober] = users;
  if (!prober) throw new Error('there are no users');
  let server = await startMeasuredService(database.url, database.mailUrl);
  try {
    const arrivals = new Map<number, number[]>();
    const clients = listeners.map((user): StreamClient => ({ user, notifiedAt: 0, countedAt: 0, retry: 0 }));
    const measure = (work: () => Promise<unknown>) =>
      watch({ server, postmaster: database.postmaster, user: prober }, work);
    const openAll = async (limit: number) => {
      const opening = new PQueue({ concurrency: limit });
      const rejections = await opening.addAll(
        clients.map((client) => async () => {
          // What a stream said before it ended.
          await sleep(client.retry);
          return connect(server.url, client, arrivals);
        }),
      );
      return rejections.reduce((total, one) => total + one, 0);
    };

    const results: string[] = [];
    const measureEvents = async () => {
      let delays: number[] = [];
      const pace = { count: 200, perSecond: 10 };
      sayRow(
        '200 requests, 10 a second',
        await measure(async () => (delays = await sendRequests(server, senders, owners, arrivals, pace))),
      );
      results.push(
        `- an event after the response to the request that caused it, ms p50 / p99: ${describe(delays)}`,
      );
      sayRow(
        'all users are notified at once',
        await measure(async () => (delays = await notifyAll(database.url, clients))),
      );
      results.push(`- an event on each stream after the commit that notified all users: ${describe(delays)}`);
      sayRow(
        '200 users mark all as read, 20 a second',
        await measure(async () => (delays = await markRead(server, clients.slice(0, 200)))),
      );
      results.push(`- the new count after the response to mark-read: ${describe(delays)}`);
      sayRow(
        'the listening connection is lost: all streams look for what they missed',
        await measure(async () => {
          const at = performance.now();
          await interruptListener(database.url);
          await untilAll(clients, ({ countedAt }) => countedAt > at);
        }),
      );
    };

    const before = await readMemory(server);
    say('');
    say(
      '| what | seconds | CPU seconds of the instance | of PostgreSQL | `me` beside it, ms p50 / p99 | cores that others used |',
    );
    say('|---|---|---|---|---|---|');
    sayRow(`${count} streams are opened, 50 at a time`, await measure(() => openAll(50)));
    const after = await readMemory(server);
    const files = (await readdir(`/proc/${server.pid}/fd`)).length;
    sayRow('30 s without events: heartbeats, checks of sessions', await measure(() => sleep(30_000)));

    if (!values.restart) await measureEvents();

    const ending = performance.now();
    await server.end();
    const ended = (performance.now() - ending) / 1000;
    server = await startMeasuredService(database.url, database.mailUrl);
    let rejections = 0;
    sayRow(
      'a restart: all streams are opened again, when their `retry` is over',
      await measure(async () => (rejections = await openAll(count))),
    );
    sayRow('30 s after that, without events', await measure(() => sleep(30_000)));

    say('');
    say(
      `- resident memory: ${before.resident.toFixed(0)} MiB without streams, ${after.resident.toFixed(0)} MiB with them, ${(((after.resident - before.resident) * 1024) / count).toFixed(1)} KiB for each`,
    );
    say(
      `- live memory of JavaScript: ${(((after.live - before.live) * 1024) / count).toFixed(1)} KiB for each stream`,
    );
    say(`- open files of the instance: ${files}`);
    for (const line of results) say(line);
    say(`- SIGTERM to the end of the process with all streams open: ${ended.toFixed(1)} s`);
    say(`- rejected or broken attempts in the restart: ${rejections}`);
  } finally {
    await server.end();
  }
} finally {
  await database.stop();
}
process.exit();
