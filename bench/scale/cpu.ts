import { readFileSync } from 'node:fs';
import type { Side } from './side.ts';

/**
 * Measures the CPU time of PostgreSQL for the service: of its present connections. Nanoseconds are read from `schedstat`, because
 * ticks are too coarse.
 *
 * @returns milliseconds since the last call, or since the meter was opened. NaN where there is no `/proc`
 */
export async function openCpuMeter({ observer }: Side): Promise<() => number> {
  const { rows } = await observer.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'dure'`,
  );
  const readNow = () => rows.reduce((sum, { pid }) => sum + readNanoseconds(pid), 0);
  let last = readNow();
  return () => {
    const now = readNow();
    const milliseconds = (now - last) / 1e6;
    last = now;
    return milliseconds;
  };
}

function readNanoseconds(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);
  } catch {
    return Number.NaN;
  }
}
