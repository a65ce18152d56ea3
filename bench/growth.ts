import { readOptions, sayErrors, sayHead, sayRow } from './command-line.ts';
import { readUsers } from './data.ts';
import { type Server, withDatabase } from './environment.ts';
import { sum } from './processes.ts';
import { runWorkload, workloads } from './workloads.ts';

/** Connections that send load to each instance. */
const connections = 16;
const chosen = ['me', 'notifications', 'create-request'];

/**
 * npm run bench -- growth [--seconds 4] [--instances 1,2,4]
 *
 * The same load on each of some instances that share a database.
 */
export async function growth(args: string[]): Promise<void> {
  const options = readOptions(args, { seconds: '4', instances: '1,2,4' });
  const seconds = Number(options.seconds);
  sayHead([
    ...['workload', 'instances', 'req/s in all', 'of each', 'p99 ms'],
    ...['cores: instances + PostgreSQL + load generator + others', 'requests that wait for a connection'],
  ]);
  await withDatabase(async ({ url, postmaster, start }) => {
    const users = await readUsers(url);
    for (const count of options.instances.split(',').map(Number)) {
      const servers = await Promise.all(Array.from({ length: count }, () => start()));
      for (const workload of workloads.filter(({ name }) => chosen.includes(name))) {
        const run = () => runWorkload(workload, { servers, postmaster, users, connections, seconds });
        // The engine compiles what the workload needs.
        await run();
        const waiting: Promise<number>[] = [];
        const sampling = setInterval(() => waiting.push(...servers.map(readWaiting)), 500);
        const { perSecond, p99, elapsed, instances, postgres, load, others, errors } = await run();
        clearInterval(sampling);
        sayRow([
          ...[workload.name, count, sum(perSecond).toFixed(0)],
          ...[perSecond.map((one) => one.toFixed(0)).join(', '), p99.toFixed(1)],
          [instances, postgres, load, others].map((one) => (one / elapsed).toFixed(2)).join(' + '),
          (sum(await Promise.all(waiting)) / waiting.length).toFixed(1),
        ]);
        sayErrors(workload.name, errors);
      }
      for (const { end } of servers) await end();
    }
  });
}

/** Requests of an instance that wait for a connection of its pool. */
async function readWaiting({ url }: Server): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^database_pool_waiting (\d+)/m.exec(text)?.[1]);
}
