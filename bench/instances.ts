import process from 'node:process';
import type { BenchUser } from './data.ts';
import { type LoadResult, sendLoad } from './load.ts';
import { cpuTime, cpuTimeWithChildren, machineTime } from './processes.ts';
import { type MeasuredServer, type startDatabase, startMeasuredService } from './servers.ts';
import { deleteJobs } from './targets.ts';
import { watchWaits } from './waits.ts';
import { type Workload, workloads } from './workloads.ts';

/** Connections that send load to each instance. */
const connections = 16;
const chosen = ['me', 'notifications', 'create-request'];

interface Options {
  database: Awaited<ReturnType<typeof startDatabase>>;
  users: BenchUser[];
  /** How many instances, one measurement after the other. */
  counts: number[];
  seconds: number;
}

/** Measures the same load on each of some instances that share the database. @returns what failed */
export async function measureInstances(say: (line: string) => void, options: Options): Promise<string[]> {
  const { database, counts } = options;
  const errors: string[] = [];
  say(
    '| workload | instances | req/s in all | of each | p99 ms | cores: instances + PostgreSQL + load generator + others | requests that wait for a connection | what backends do |',
  );
  say('|---|---|---|---|---|---|---|---|');
  for (const count of counts) {
    const instances = await Promise.all(
      Array.from({ length: count }, () => startMeasuredService(database.url, database.mailUrl)),
    );
    try {
      for (const workload of workloads.filter(({ name }) => chosen.includes(name))) {
        errors.push(...(await warmUp(workload, instances, options)));
        const cells = await measure(workload, instances, options, errors);
        say(`| ${[workload.name, count, ...cells].join(' | ')} |`);
      }
    } finally {
      await Promise.all(instances.map(({ end }) => end()));
    }
  }
  return errors;
}

/** Until the engine of each instance has compiled what the workload needs. */
async function warmUp(
  workload: Workload,
  instances: MeasuredServer[],
  { database, users }: Options,
): Promise<string[]> {
  const results = await send(workload, instances, users, 3);
  if (workload.hasMailJob) await deleteJobs(database.url);
  return results.flatMap((result) => result.errors);
}

/** Sends a load to all instances. */
function send(
  workload: Workload,
  instances: MeasuredServer[],
  users: BenchUser[],
  seconds: number,
): Promise<LoadResult[]> {
  return Promise.all(
    instances.map(async (server) =>
      sendLoad(server.url, await workload.createSenders({ server, users, connections }), seconds),
    ),
  );
}

/** Measures a load. @returns the cells of the table */
async function measure(
  workload: Workload,
  instances: MeasuredServer[],
  { database, users, seconds }: Options,
  errors: string[],
): Promise<string[]> {
  async function read() {
    const servers = sum(await Promise.all(instances.map(({ pid }) => cpuTime(pid))));
    const postgres = await cpuTimeWithChildren(database.postmaster);
    const { user, system } = process.cpuUsage();
    const load = user + system;
    return { servers, postgres, load, others: (await machineTime()).busy - servers - postgres - load };
  }
  const before = await read();
  const started = performance.now();
  const watch = await watchWaits(database.url, instances);
  const results = await send(workload, instances, users, seconds);
  const { backends, pool } = await watch.stop();
  const after = await read();
  const elapsed = (performance.now() - started) * 1000;
  if (workload.hasMailJob) await deleteJobs(database.url);
  errors.push(...results.flatMap((result) => result.errors));
  const cores = (of: keyof typeof before) => ((after[of] - before[of]) / elapsed).toFixed(2);
  const perSecond = results.map((result) => result.perSecond);
  return [
    sum(perSecond).toFixed(0),
    perSecond.map((one) => one.toFixed(0)).join(', '),
    Math.max(...results.map(({ p99 }) => p99)).toFixed(1),
    (['servers', 'postgres', 'load', 'others'] as const).map(cores).join(' + '),
    pool.toFixed(1),
    backends,
  ];
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
