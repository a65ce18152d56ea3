import type { Pool } from 'pg';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { version } from '../config/readers.ts';

/** Where the parts of the service put what they measure; `GET /metrics` shows it. */
export type Metrics = ReturnType<typeof createMetrics>;

/** The value of a gauge, or that of each of its labels; undefined leaves it out. */
export type Reading<Label extends string> =
  | number
  | [labels: Record<Label, string>, value: number][]
  | undefined;

/** Creates an empty set of metrics. Labels must have few values, all of them known to the code. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];

  /** Adds a gauge that is read at each scrape. */
  function addGauge<Label extends string>(
    name: string,
    help: string,
    read: () => Reading<Label> | Promise<Reading<Label>>,
    labelNames: readonly Label[] = [],
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        const reading = await read();
        this.reset();
        // Without labels, a gauge that was reset shows 0.
        this.remove({});
        if (typeof reading === 'number') this.set(reading);
        else for (const [labels, value] of reading ?? []) this.set(labels, value);
      },
    });
  }

  /** Adds a counter; its name ends with `_total`. Series of known values of labels exist from the start, so that the first event counts. */
  function addCounter(name: string, help: string, labels: Record<string, readonly string[]> = {}) {
    const counter = new Counter({ name, help, labelNames: Object.keys(labels), registers });
    const series = Object.entries(labels).reduce<Record<string, string>[]>(
      (some, [label, values]) => some.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
      [{}],
    );
    for (const one of series) counter.inc(one, 0);
    return counter;
  }

  return { registry, addGauge, addCounter };
}

/** Memory, processor time, garbage collection and event-loop delay as prom-client names them, and which build runs. */
export function addProcessMetrics({ registry, addGauge }: Metrics, commit = 'unknown'): void {
  collectDefaultMetrics({ register: registry });
  const build = { version, node: process.version, commit };
  addGauge(
    'dure_build_info',
    'Which build runs; the value is always 1',
    () => [[build, 1]],
    Object.keys(build),
  );
}

/** The connections of the pool, and what waits for one. */
export function addPoolMetrics({ addGauge }: Metrics, pool: Pool): void {
  addGauge(
    'database_pool_connections',
    'Connections of the pool by state',
    () => [
      [{ state: 'active' }, pool.totalCount - pool.idleCount],
      [{ state: 'idle' }, pool.idleCount],
    ],
    ['state'],
  );
  addGauge(
    'database_pool_waiting',
    'Statements and transactions that wait for a connection',
    () => pool.waitingCount,
  );
  addGauge('database_pool_max_connections', 'Connections that the pool may have', () => pool.options.max);
}
