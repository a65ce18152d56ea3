import { readFileSync } from 'node:fs';
import type { Read } from './reads.ts';
import { get, RejectedError, type Side, type Viewer } from './side.ts';

/** Milliseconds of one read at one size. */
interface Figures {
  /** Time until the response was read. */
  p50: number;
  p99: number;
  /** CPU time of PostgreSQL: the mean and the 99th percentile. */
  cpu: number;
  cpu99: number;
}

export interface Comparison {
  name: string;
  small: Figures;
  full: Figures;
  /** Requests at full size until a page has an item or the list ends. */
  requests: number;
  /** The status of the first response that was no success. */
  rejected?: number;
}

/** Who reads: some users, one after the other, or the one who owns a tenth of everything. */
export type Who = 'ordinary' | 'owner';

const warmUps = 20;
/** A read that takes long is repeated less often. */
const longest = 4_000;
const fewest = 5;
const mostPages = 1_000;

/** Repeats a read at both sizes in turns. The first rounds are not measured. */
export async function compare(
  read: Read,
  who: Who,
  sides: { small: Side; full: Side },
  repeat: number,
): Promise<Comparison> {
  const samplers = [await sampler(read, sides.small, who), await sampler(read, sides.full, who)] as const;
  const [small, full] = samplers;
  const inTurns = async (rounds: number) => {
    const began = performance.now();
    for (let turn = 0; turn < rounds; turn++) {
      if (turn >= fewest && performance.now() - began > longest) return;
      for (const one of samplers) await one.sample(turn);
    }
  };
  try {
    await inTurns(warmUps);
    for (const one of samplers) await one.reset();
    await inTurns(repeat);
    const requests = await requestsUntilFound(read, sides.full, who);
    return { name: read.name, small: small.figures(), full: full.figures(), requests };
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error;
    return {
      ...{ name: read.name, small: small.figures(), full: full.figures(), requests: 0 },
      rejected: error.status,
    };
  }
}

async function sampler(read: Read, side: Side, who: Who) {
  let meter = await openCpuMeter(side);
  let times: number[] = [];
  let cpu: number[] = [];
  const viewers = viewersOf(side, who);
  return {
    /** Forgets what was measured; connections that were opened since are measured, too. */
    async reset() {
      [meter, times, cpu] = [await openCpuMeter(side), [], []];
    },
    async sample(turn: number) {
      const viewer = viewers[turn % viewers.length] ?? side.owner;
      const path = read.path(viewer, side.shared);
      const began = performance.now();
      await get(side.url, path, viewer.token);
      times.push(performance.now() - began);
      cpu.push(meter());
    },
    figures(): Figures {
      return {
        p50: percentile(times, 0.5),
        p99: percentile(times, 0.99),
        cpu: cpu.reduce((sum, one) => sum + one, 0) / cpu.length,
        cpu99: percentile(cpu, 0.99),
      };
    },
  };
}

function viewersOf({ owner, ordinary }: Side, who: Who): Viewer[] {
  return who === 'owner' ? [owner] : ordinary;
}

async function requestsUntilFound(read: Read, side: Side, who: Who): Promise<number> {
  const [viewer = side.owner] = viewersOf(side, who);
  const target = new URL(read.path(viewer, side.shared), side.url);
  for (let requests = 1; ; requests++) {
    const { data } = await get(side.url, `${target.pathname}${target.search}`, viewer.token);
    if (!data.next_cursor || data.items?.length > 0 || requests === mostPages) return requests;
    target.searchParams.set('cursor', data.next_cursor);
  }
}

function percentile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}

/**
 * Measures the CPU time of PostgreSQL for the service: of its present connections. Nanoseconds are read from `schedstat`, because
 * ticks are too coarse.
 *
 * @returns milliseconds since the last call, or since the meter was opened. NaN where there is no `/proc`
 */
async function openCpuMeter({ observer }: Side): Promise<() => number> {
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
