import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../src/development/embedded-postgres/server.ts';
import { production, type Service, startService } from '../test/support/service.ts';
import { createShop, visit } from './visits.ts';

/*
 * npm run soak [-- --minutes 10 --rate 80]
 *
 * Runs the built service on a throw-away PostgreSQL under constant load and compares the last third of the time with the middle
 * one; the first is the warm-up. Exit code 1 when memory, connections or the event loop delay have grown, or after a 5xx response.
 */

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '5' }, rate: { type: 'string', default: '80' } },
});
const duration = Number(values.minutes) * 60_000;
const rate = Number(values.rate);
if (!(duration >= 60_000 && duration <= 3_600_000)) throw new Error('--minutes is 1 to 60');
if (!(rate >= 1 && rate <= 300)) throw new Error('--rate is 1 to 300 requests in a second');

/** A metric that must not grow. */
interface Measure {
  /** The name of the metric; its series are added up. */
  metric: string;
  /** How the samples of one third are reduced; the minimum is what remains after a garbage collection. */
  by: 'median' | 'minimum';
  /** The limit for the last third: `middle * factor + noise`. */
  factor: number;
  noise: number;
  /** The unit of the table in that of the metric. */
  unit?: number;
}

const megabyte = 2 ** 20;
const millisecond = 0.001;
const measures: Record<string, Measure> = {
  'resident memory, MB': {
    metric: 'process_resident_memory_bytes',
    by: 'median',
    factor: 1.1,
    noise: 10,
    unit: megabyte,
  },
  'used heap, MB': {
    metric: 'nodejs_heap_size_used_bytes',
    by: 'minimum',
    factor: 1.05,
    noise: 2,
    unit: megabyte,
  },
  'memory beside the heap, MB': {
    metric: 'nodejs_external_memory_bytes',
    by: 'minimum',
    factor: 1.05,
    noise: 2,
    unit: megabyte,
  },
  'open handles': { metric: 'nodejs_active_handles_total', by: 'minimum', factor: 1.1, noise: 5 },
  'connections to PostgreSQL': { metric: 'database_pool_connections', by: 'median', factor: 1, noise: 1 },
  'event loop delay, mean, ms': {
    metric: 'nodejs_eventloop_lag_mean_seconds',
    by: 'median',
    factor: 1.5,
    noise: 5,
    unit: millisecond,
  },
  'event loop delay, 99 %, ms': {
    metric: 'nodejs_eventloop_lag_p99_seconds',
    by: 'median',
    factor: 2,
    noise: 20,
    unit: millisecond,
  },
};

type Sample = Record<string, number>;

async function readSample({ url }: Service): Promise<Sample> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  return Object.fromEntries(
    Object.entries(measures).map(([name, { metric, unit = 1 }]) => {
      const values = lines
        .filter((one) => /^\w+/.exec(one)?.[0] === metric)
        .map((one) => one.split(' ').at(-1));
      if (values.length === 0) throw new Error(`metric ${metric} is missing`);
      return [name, values.reduce((sum, value) => sum + Number(value), 0) / unit];
    }),
  );
}

/** Sends the load. @returns the number of responses per status */
async function load({ url }: Service, onSample: () => Promise<void>): Promise<Map<number, number>> {
  const shops = await Promise.all(Array.from({ length: 20 }, (_, index) => createShop(url, index)));
  const statuses = new Map<number, number>();
  const waiting = new Set<Promise<void>>();
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  const every = duration / 90;
  for (let turn = 0, samples = 0; elapsed() < duration; turn++) {
    const answered = visit(url, turn, shops).then((status) => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      waiting.delete(answered);
    });
    waiting.add(answered);
    for (; elapsed() > samples * every; samples++) await onSample();
    await sleep(Math.max(0, ((turn + 1) * 1_000) / rate - elapsed()));
  }
  await Promise.all(waiting);
  return statuses;
}

/** Prints each measure per third. @returns whether none has grown */
function compare(samples: Sample[]): boolean {
  const third = Math.floor(samples.length / 3);
  let isFlat = true;
  for (const [name, { by, factor, noise }] of Object.entries(measures)) {
    const [warm = 0, middle = 0, last = 0] = [0, 1, 2].map((part) => {
      const all = samples.slice(part * third, (part + 1) * third).map((sample) => sample[name] ?? 0);
      return all.sort((a, b) => a - b)[by === 'minimum' ? 0 : Math.floor(all.length / 2)];
    });
    const limit = middle * factor + noise;
    if (last > limit) isFlat = false;
    const numbers = [warm, middle, last, limit].map((value) => value.toFixed(1).padStart(9)).join('');
    say(`${name.padEnd(28)}${numbers}  ${last > limit ? 'HAS GROWN' : 'flat'}`);
  }
  return isFlat;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const directory = await mkdtemp(join(tmpdir(), 'dure-soak-'));
const database = await startEmbeddedServer({ directory });
const provider = createServer((request, response) => {
  request.resume();
  response.setHeader('content-type', 'application/json').end('{"id":"taken"}');
}).listen(0, '127.0.0.1');
try {
  await once(provider, 'listening');
  const environment = {
    ...production,
    ARGON2_MEMORY_KIB: '19456',
    DATABASE_URL: database.url,
    MIGRATE_ON_START: 'true',
    // All the load comes from one address.
    RATE_LIMIT_ENABLED: 'false',
    QUOTA_EDITS_PER_DAY: '0',
    QUOTA_REQUESTS_PER_DAY: '0',
    RESEND_BASE_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
  };
  const service = await startService(environment, ['dist/server.js']);
  const samples: Sample[] = [];
  const statuses = await load(service, async () => void samples.push(await readSample(service)));
  const { code } = await service.end();
  const responses = [...statuses].sort(([one], [other]) => one - other);
  say(`responses: ${responses.map(([status, count]) => `${count} of ${status}`).join(', ')}`);
  say(`${''.padEnd(28)}${['first', 'middle', 'last', 'limit'].map((head) => head.padStart(9)).join('')}`);
  const isFlat = compare(samples);
  const hasFailed = code !== 0 || responses.some(([status]) => status >= 500);
  if (hasFailed)
    say(`the service failed (exit code ${code}); its log ends with:\n${service.output().slice(-2_000)}`);
  say(isFlat && !hasFailed ? 'Soak passed.' : 'Soak FAILED.');
  process.exitCode = isFlat && !hasFailed ? 0 : 1;
} finally {
  provider.closeAllConnections();
  provider.close();
  await database.stop();
  await rm(directory, { recursive: true, force: true });
}
