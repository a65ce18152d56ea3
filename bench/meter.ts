import process from 'node:process';
import pg from 'pg';
import { databaseUrl } from '../test/support/database.ts';
import type { LoadResult } from './load.ts';
import { cpuTime, cpuTimeWithChildren, machineTime, memory, resetPeakMemory } from './processes.ts';
import type { Target } from './targets.ts';

/** One run of a workload. */
export interface Measurement extends LoadResult {
  /** CPU time for each request, in microseconds. */
  cpu: number;
  postgresCpu: number;
  /** For each request. PostgreSQL reports a transaction up to a second later, so only many runs together are exact. */
  transactions: number;
  /** Resident memory in MiB, the most since {@link resetPeaks}. */
  peakMemory: number;
  /** The share of the machine that other processes used. */
  others: number;
}

/** Measures what runs cost. */
export async function createMeter(database: { url: string; postmaster: number }) {
  const client = new pg.Client({ connectionString: databaseUrl(database.url, 'postgres') });
  await client.connect();

  async function countTransactions(url = ''): Promise<number> {
    const { rows } = await client.query<{ count: number }>(
      'SELECT (xact_commit + xact_rollback)::float8 AS count FROM pg_stat_database WHERE datname = $1',
      [URL.canParse(url) ? new URL(url).pathname.slice(1) : ''],
    );
    return rows[0]?.count ?? 0;
  }

  async function read({ pid, databaseUrl }: Target) {
    const [cpu, postgresCpu, transactions, machine] = await Promise.all([
      cpuTime(pid),
      cpuTimeWithChildren(database.postmaster),
      countTransactions(databaseUrl),
      machineTime(),
    ]);
    const { user, system } = process.cpuUsage();
    const others = machine.busy - cpu - postgresCpu - user - system;
    return { cpu, postgresCpu, transactions, others, machine: machine.total };
  }

  async function measure(target: Target, seconds: number): Promise<Measurement> {
    const before = await read(target);
    const result = await target.run(seconds);
    const after = await read(target);
    const { peak } = await memory(target.pid);
    const perRequest = (of: keyof typeof before) => (after[of] - before[of]) / result.requests;
    return {
      ...result,
      errors: [...result.errors, ...(result.requests === 0 ? ['no response'] : [])],
      cpu: perRequest('cpu'),
      postgresCpu: perRequest('postgresCpu'),
      transactions: perRequest('transactions'),
      peakMemory: peak,
      others: Math.max(0, after.others - before.others) / (after.machine - before.machine),
    };
  }

  return { measure, close: () => client.end() };
}

/** Begins a new measurement of the peak memory. */
export async function resetPeaks(targets: Target[]): Promise<void> {
  for (const { pid } of targets) await resetPeakMemory(pid);
}
