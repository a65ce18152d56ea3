import type { Pool } from 'pg';
import { collectDefaultMetrics, Gauge } from 'prom-client';
import { readVersion } from '../config/version.ts';
import type { Metrics } from './metrics.ts';

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
