import { createECDH } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute } from '../test/support/database.ts';
import { post } from '../test/support/service.ts';
import { until } from '../test/support/until.ts';
import type { BenchUser } from './data.ts';
import { cpuTime } from './processes.ts';
import { withService } from './servers.ts';

/*
 * npm run bench -- pushes
 *
 * How many notifications a second are pushed to browsers, and how long a push takes from the request that causes it: alone, and
 * beside ten users, each with ten browsers whose push services never respond.
 */

const many = 3_000;
const samples = 50;
/** Milliseconds in which the push service responds: at once, and about as real ones do. */
const latencies = [0, 100];

const say = (line: string) => process.stdout.write(`${line}\n`);

/** A push service on this machine, which never answers a path that begins with /slow. */
async function startPushService() {
  const arrivals: { path: string; at: number }[] = [];
  const service = { url: '', arrivals, latency: 0, close: () => server.close().closeAllConnections() };
  const server = createServer((request, response) => {
    request.resume();
    const { url: path = '' } = request;
    arrivals.push({ path, at: performance.now() });
    if (!path.startsWith('/slow')) setTimeout(() => response.writeHead(201).end(), service.latency);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return service;
}

const service = await startPushService();
const p256dh = createECDH('prime256v1').generateKeys('base64url');

await withService({ NODE_ENV: 'development', WORKER_ENABLED: 'true' }, async (server, all) => {
  // Not those with much data.
  const users = all.slice(100);
  const [attackers, receivers, newcomers] = [
    users.splice(0, 10),
    users.splice(0, samples),
    users.splice(0, samples),
  ];

  /** Gives each user browsers, at paths with the id of the user. */
  const subscribe = (some: BenchUser[], path: string, browsers: number, deliveredAt: string) =>
    execute(
      server.databaseUrl,
      `INSERT INTO push_subscriptions (user_id, endpoint, p256dh, auth, user_agent, delivered_at)
       SELECT id, '${service.url}/${path}/' || id || '/' || n, '${p256dh}', 'Zm9yIGV4YW1wbGUgb25seQ', '', ${deliveredAt}
       FROM unnest('{${some.map(({ id }) => id)}}'::int[]) id, generate_series(1, ${browsers}) n`,
    );

  /** Adds notifications as changes do, apart from their lock. */
  const notify = (some: BenchUser[], each: number) =>
    execute(
      server.databaseUrl,
      `WITH added AS (
         INSERT INTO unread_notifications (user_id, kind, partner_request_id, created_at)
         SELECT id, 'partner_request_received', (SELECT min(id) FROM partner_requests), now()
         FROM unnest('{${some.map(({ id }) => id)}}'::int[]) id, generate_series(1, ${each}) RETURNING user_id, id)
       INSERT INTO outbox (user_id, notification_id) SELECT user_id, id FROM added`,
    );

  const arrived = (path: string) => service.arrivals.filter((one) => one.path.startsWith(path));

  /** Sends 20 requests a second, each to one of the users. @returns the milliseconds until each of them is pushed, in order */
  async function measure(some: BenchUser[], path: string): Promise<number[]> {
    service.arrivals.length = 0;
    const delays = some.map(async ({ id, postId }, index) => {
      await sleep(50 * index);
      const { access = '' } = users.shift() ?? {};
      const url = `${server.url}/api/v1/notifications/partner-request/`;
      const begun = performance.now();
      const { status, text } = await post(
        url,
        { post_id: postId, message: '함께 해요!' },
        { authorization: `Bearer ${access}` },
      );
      if (status !== 201) throw new Error(text);
      const { at } = await until('a push', () => arrived(`/${path}/${id}/`)[0]);
      return at - begun;
    });
    return (await Promise.all(delays)).sort((one, other) => one - other);
  }

  const report = (what: string, delays: number[]) => {
    const [p50, p99] = [0.5, 0.99].map((part) => delays[Math.floor(part * delays.length)]?.toFixed(0));
    say(`${what}: p50 ${p50} ms, p99 ${p99} ms, at most ${delays.at(-1)?.toFixed(0)} ms`);
  };

  await subscribe(receivers, 'known', 1, 'now()');
  await subscribe(newcomers, 'new', 1, 'NULL');
  for (const latency of latencies) {
    service.latency = latency;
    service.arrivals.length = 0;
    const cpu = await cpuTime(server.pid);
    await notify(receivers, many / samples);
    await until('all are pushed', () => service.arrivals.length === many);
    const [first, last] = [service.arrivals[0]?.at ?? 0, service.arrivals.at(-1)?.at ?? 0];
    const perPush = ((await cpuTime(server.pid)) - cpu) / many;
    say(
      `a push service that responds after ${latency} ms: ${((many - 1) / ((last - first) / 1_000)).toFixed(0)} pushes/s, ${perPush.toFixed(0)} us of CPU each`,
    );
  }
  report('alone', await measure(receivers, 'known'));

  await subscribe(attackers, 'slow', 10, 'NULL');
  await notify(attackers, 5);
  await until('a slow one is called', () => arrived('/slow').length > 0);
  report('beside 100 browsers of slow push services', await measure(receivers, 'known'));
  report('the same, of browsers that got none before', await measure(newcomers, 'new'));
  // As if they had responded until now.
  await execute(
    server.databaseUrl,
    `UPDATE push_subscriptions SET delivered_at = now(), failures = 0, retry_at = NULL`,
  );
  service.arrivals.length = 0;
  await notify(attackers, 5);
  await until('a slow one is called', () => arrived('/slow').length > 0);
  report(
    'beside 100 browsers of push services that have just become slow',
    await measure(receivers, 'known'),
  );
});
service.close();
