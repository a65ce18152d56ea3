import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { wakeUpChannel } from '../src/infrastructure/jobs/outbox.ts';
import { execute } from '../test/support/database.ts';
import { post } from '../test/support/service.ts';
import { readOptions, say, sayHead, sayRow } from './command-line.ts';
import { type BenchUser, readUsers } from './data.ts';
import { type Environment, type Server, withDatabase } from './environment.ts';
import { besideMe, describe } from './load.ts';
import { costOf, memory, sum } from './processes.ts';
import { connect, type StreamClient, untilAll } from './stream-clients.ts';
import { authorization } from './workloads.ts';

/**
 * npm run bench -- streams [--streams 10000] [--seconds 30]
 *
 * What many open notification streams, each of a user of its own, cost on one instance. It waits for `--seconds` twice without
 * events. Each stream is an open file of this process and of the instance (`ulimit -n`).
 */
export async function streams(args: string[]): Promise<void> {
  const options = readOptions(args, { streams: '10000', seconds: '30' });
  const [count, pause] = [Number(options.streams), 1_000 * Number(options.seconds)];
  await withDatabase(async (environment) => {
    const { url, start } = environment;
    await addListeners(url, count);
    const users = await readUsers(url);
    const senders = users.slice(10, 110);
    const clients = users
      .slice(200, 200 + count)
      .map((user): StreamClient => ({ user, notifiedAt: 0, countedAt: 0, retry: 0 }));
    const openAll = async (server: Server, parallel: number) => {
      const queue = new PQueue({ concurrency: parallel });
      const attempts = clients.map((client) =>
        // What a stream said before it ended.
        queue.add(() => sleep(client.retry).then(() => connect(server.url, client))),
      );
      return sum(await Promise.all(attempts));
    };

    const server = await start();
    const measure = createMeasure(environment, users.slice(0, 10));
    const before = await memory(server.pid);
    sayHead([
      ...['what', 'seconds', 'CPU seconds of the instance', 'of PostgreSQL'],
      ...['`me` beside it, ms p50 / p99', 'cores that others used'],
    ]);
    await measure(server, `${count} streams are opened, 50 at a time`, () => openAll(server, 50));
    const after = await memory(server.pid);
    const files = (await readdir(`/proc/${server.pid}/fd`)).length;
    await measure(server, 'without events: heartbeats, checks of sessions', () => sleep(pause));
    const owners = clients.filter(({ user }) => user.postId !== null).slice(0, 200);
    const requests = await measure(server, `${owners.length} requests, 10 a second`, () =>
      sendRequests(server, senders, owners),
    );
    const notify = `SELECT pg_notify('${wakeUpChannel}', json_agg(id)::text) FROM users GROUP BY id / 500`;
    const all = await measure(server, 'all users are notified at once', () =>
      notifyAll(url, clients, notify),
    );
    // Streams then look for what they missed.
    const interrupt =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dure-listener'";
    await measure(server, 'the listening connection is lost: all streams look for what they missed', () =>
      notifyAll(url, clients, interrupt),
    );
    await server.end();
    const next = await start();
    const rejections = await measure(
      next,
      'a restart: all streams are opened again, after their `retry`',
      () => openAll(next, count),
    );
    await measure(next, 'after that, without events', () => sleep(pause));

    const each = (((after - before) * 1024) / count).toFixed(1);
    say(
      `\n- resident memory: ${before.toFixed(0)} MiB, ${after.toFixed(0)} with streams, ${each} KiB for each`,
    );
    say(`- open files of the instance: ${files}`);
    say(`- an event after the response to the request that caused it, ms p50 / p99: ${describe(requests)}`);
    say(`- an event on each stream after the commit that notified all users: ${describe(all)}`);
    say(`- rejected or broken attempts in the restart: ${rejections}`);
  });
}

/** Adds users without a store: they only listen. */
function addListeners(url: string, count: number): Promise<unknown> {
  return execute(
    url,
    `WITH made AS (
       INSERT INTO users (username, email, name, password_hash)
       SELECT 'stream' || n, 'stream' || n || '@example.com', '이두레', 'x' FROM generate_series(1, ${count}) n RETURNING id)
     INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
     SELECT gen_random_uuid(), id, '{}', 'bench', '127.0.0.1', now() + interval '1 day' FROM made`,
    'ANALYZE users, sessions',
  );
}

/** Measures what work costs, and `me` of some users beside it. It prints a row and returns the result of the work. */
const createMeasure =
  ({ postmaster }: Environment, users: BenchUser[]) =>
  async <Result>(server: Server, name: string, work: () => Promise<Result>): Promise<Result> => {
    const cost = await costOf({ servers: [server], postmaster }, () => besideMe(server, users, work));
    const { times, rejected, result } = cost.result;
    sayRow([
      ...[name, cost.elapsed.toFixed(1), cost.instances.toFixed(2), cost.postgres.toFixed(2)],
      describe(times) + (rejected > 0 ? `, ${rejected} of ${times.length} rejected` : ''),
      (cost.others / cost.elapsed).toFixed(1),
    ]);
    return result;
  };

/** Creates a request to each receiver, 10 a second. @returns milliseconds from each response to the event on the stream */
function sendRequests({ url }: Server, senders: BenchUser[], receivers: StreamClient[]): Promise<number[]> {
  const sending = receivers.map(async (receiver, index) => {
    await sleep(100 * index);
    const sender = senders[index % senders.length];
    if (!sender) throw new Error('there is no sender');
    const begun = performance.now();
    const body = { post_id: receiver.user.postId, message: '함께 해요!' };
    const path = '/api/v1/notifications/partner-request/';
    const { status, text } = await post(url + path, body, authorization(sender));
    const at = performance.now();
    if (status !== 201) throw new Error(`a request was answered with ${status}: ${text}`);
    await untilAll([receiver], ({ notifiedAt }) => notifiedAt > begun);
    return receiver.notifiedAt - at;
  });
  return Promise.all(sending);
}

/** Adds a notification of each user, and then wakes streams up. @returns milliseconds until the event on each stream */
async function notifyAll(url: string, clients: StreamClient[], wakeUp: string): Promise<number[]> {
  const ids = clients.map(({ user }) => user.id).join();
  const begun = performance.now();
  await execute(
    url,
    // Not of the senders of requests, who have no stream.
    `WITH counted AS (
       INSERT INTO notification_counts AS c (user_id, unread) SELECT id, 1 FROM unnest('{${ids}}'::int[]) id
       ON CONFLICT (user_id) DO UPDATE SET unread = c.unread + 1 RETURNING user_id)
     INSERT INTO notifications (user_id, kind, partner_request_id)
     SELECT user_id, 'partner_request_received', (SELECT min(id) FROM partner_requests) FROM counted`,
    wakeUp,
  );
  const at = performance.now();
  // The count follows the notification; the next measurement begins when nothing waits any more.
  await untilAll(clients, ({ notifiedAt, countedAt }) => notifiedAt > begun && countedAt >= notifiedAt);
  return clients.map(({ notifiedAt }) => Math.max(0, notifiedAt - at));
}
