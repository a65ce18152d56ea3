import type { Pool } from 'pg';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { readVersion } from '../config/version.ts';

/** Where the parts of the service put what they measure; `GET /metrics` shows it. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates an empty set of metrics. Labels must have few values, all of them known to the code. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];

  /** Adds a gauge that is read at each scrape. */
  function addGauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read());
      },
    });
  }

  /** Adds a counter; its name ends with `_total`. */
  function addCounter<Label extends string>(name: string, help: string, labelNames: readonly Label[]) {
    return new Counter({ name, help, labelNames, registers });
  }

  /** Adds a histogram; its name ends with the unit. @param buckets upper bounds */
  function addHistogram<Label extends string>(
    name: string,
    help: string,
    { buckets, labelNames = [] }: { buckets: number[]; labelNames?: readonly Label[] },
  ) {
    return new Histogram({ name, help, buckets, labelNames, registers });
  }

  return { registry, addGauge, addCounter, addHistogram };
}

/**
 * Memory, processor time, garbage collection and event-loop delay as prom-client names them, and which build runs.
 *
 * @param commit of the build, if it is known
 */
export function addProcessMetrics({ registry }: Metrics, commit: string | undefined): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'dure_build_info',
    help: 'Which build runs; the value is always 1',
    labelNames: ['version', 'node', 'commit'],
    registers: [registry],
  }).set({ version: readVersion(), node: process.version, commit: commit ?? 'unknown' }, 1);
}

/** The connections of the pool, and what waits for one. */
export function addPoolMetrics({ registry, addGauge }: Metrics, pool: Pool): void {
  new Gauge({
    name: 'database_pool_connections',
    help: 'Connections of the pool by state',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'active' }, pool.totalCount - pool.idleCount);
      this.set({ state: 'idle' }, pool.idleCount);
    },
  });
  addGauge(
    'database_pool_waiting',
    'Statements and transactions that wait for a connection',
    () => pool.waitingCount,
  );
  addGauge('database_pool_max_connections', 'Connections that the pool may have', () => pool.options.max);
}
