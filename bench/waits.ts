import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { MeasuredServer } from './servers.ts';

/** What the backends of the pools do: run, or wait for something; `client` is an open transaction that waits for the service. */
const selectWaits = `
  SELECT CASE WHEN state LIKE 'idle in%' THEN 'client' ELSE coalesce(wait_event_type || ' ' || wait_event, 'run') END AS wait,
    count(*)::int AS count
  FROM pg_stat_activity WHERE application_name = 'dure' AND state <> 'idle' GROUP BY 1`;

/** Samples what backends and pools wait for, until it is stopped. */
export async function watchWaits(url: string, instances: MeasuredServer[]) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const counts = new Map<string, number>();
  const waiting: number[] = [];
  let samples = 0;
  let isStopping = false;

  async function watch(): Promise<void> {
    for (; !isStopping; await sleep(50)) {
      const { rows } = await client.query<{ wait: string; count: number }>(selectWaits);
      for (const { wait, count } of rows) counts.set(wait, (counts.get(wait) ?? 0) + count);
      // A scrape costs the instance some milliseconds.
      if (samples % 10 === 9)
        waiting.push(...(await Promise.all(instances.map(({ url }) => countWaiting(url)))));
      samples++;
    }
    await client.end();
  }
  const watched = watch();

  return {
    /** @returns how many backends do what on average, and how many requests of an instance wait for a connection */
    async stop() {
      isStopping = true;
      await watched;
      const sorted = [...counts].sort(([, one], [, other]) => other - one);
      return {
        backends: sorted
          .slice(0, 4)
          .map(([wait, count]) => `${(count / samples).toFixed(1)} ${wait}`)
          .join(', '),
        pool: waiting.reduce((total, count) => total + count, 0) / (waiting.length || 1),
      };
    },
  };
}

/** Requests of an instance that wait for a connection of its pool. */
async function countWaiting(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^database_pool_waiting (\d+)/m.exec(text)?.[1]);
}
