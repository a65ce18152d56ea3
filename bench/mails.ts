import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { openDatabase } from '../src/infrastructure/database/client.ts';
import type { MailPayload } from '../src/infrastructure/mail/queue.ts';
import { createResendTransport } from '../src/infrastructure/mail/transport.ts';
import { composers, createQueue, startMailWorker } from '../test/mail/worker-setup.ts';
import { execute } from '../test/support/database.ts';
import { startDatabase } from './servers.ts';

/*
 * npm run bench -- mails
 *
 * How long a burst of codes takes whose provider accepts two emails a second, and answers others with 429 and `retry-after: 1`.
 */

const codes = 60;
const rate = 2;
/** Milliseconds: in which the provider responds, and after which the rest counts as not delivered. */
const latency = 50;
const limit = 90_000;

/** A provider with a window of one second. */
async function startProvider() {
  const accepted: number[] = [];
  let refused = 0;
  const server = createServer(async (request, response) => {
    request.resume();
    await sleep(latency);
    const now = performance.now();
    const isAccepted = accepted.filter((at) => at > now - 1_000).length < rate;
    if (isAccepted) accepted.push(now);
    else refused += 1;
    const body = isAccepted ? { id: 'x' } : { statusCode: 429, name: 'rate_limit_exceeded' };
    const headers = { 'content-type': 'application/json', ...(isAccepted ? {} : { 'retry-after': '1' }) };
    response.writeHead(isAccepted ? 200 : 429, headers).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, accepted, refused: () => refused, close: () => server.close().closeAllConnections() };
}

const { url, stop } = await startDatabase();
const { log: logger } = Fastify();
for (const instances of [1, 3]) {
  await execute(url, 'TRUNCATE graphile_worker._private_jobs, outbox');
  const provider = await startProvider();
  const database = openDatabase({ url, poolSize: 4 });
  const { outbox, queue } = createQueue(database, logger);
  const transport = createResendTransport({
    apiKey: 're_key',
    from: 'a@dure.example',
    baseUrl: provider.url,
  });
  const workers = Array.from({ length: instances }, () =>
    startMailWorker({
      composers: {
        ...composers,
        verification_code: async (payload: MailPayload) => (await composers['code']?.(payload)) ?? null,
      },
      connectionString: url,
      database,
      logger,
      transport,
    }),
  );
  outbox.start();
  await sleep(3_000);
  const begun = performance.now();
  await database.transaction(async (tx) => {
    for (let id = 0; id < codes; id++) await queue.add(tx, 'verification_code', { id });
  });
  while (provider.accepted.length < codes && performance.now() - begun < limit) await sleep(100);
  const took = ((provider.accepted.at(-1) ?? 0) - (provider.accepted[0] ?? 0)) / 1_000;
  const least = codes / rate - 1;
  process.stdout.write(
    `${instances} instances: ${provider.accepted.length} of ${codes} delivered after ${took.toFixed(1)} s, ${(took / least).toFixed(2)} times the least time; ${provider.refused()} refused\n`,
  );
  await Promise.all(workers.map((worker) => worker.stop()));
  await outbox.stop();
  await database.close();
  provider.close();
}
await stop();
