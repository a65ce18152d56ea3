import type { Measurement } from './meter.ts';
import { memory } from './processes.ts';
import type { MeasuredServer } from './servers.ts';
import type { Workload } from './workloads.ts';

type Say = (line: string) => void;

const columns: [head: string, width: number][] = [
  ['workload', 14],
  ['server', 8],
  ['req/s', 8],
  ['p50 ms', 8],
  ['p99 ms', 8],
  ['CPU us server + PostgreSQL', 28],
  ['peak MiB', 9],
  ['ratio', 0],
];

/** A line of the table, as Markdown. */
function line(cells: string[]): string {
  return `| ${columns.map(([, width], index) => (cells[index] ?? '').padEnd(width)).join(' | ')} |`;
}

/** Prints the memory of the idle servers and the head of the table. */
export async function printHeader(say: Say, service: MeasuredServer, limit: MeasuredServer): Promise<void> {
  const [own, least] = await Promise.all([memory(service.pid), memory(limit.pid)]);
  say(`Idle memory: service ${own.resident.toFixed(0)} MiB, limit ${least.resident.toFixed(0)} MiB`);
  say('');
  say(line(columns.map(([head]) => head)));
  say(`|${columns.map(([, width]) => '-'.repeat(width + 2)).join('|')}|`);
}

function median(numbers: number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle) - 1] ?? 0)) / 2;
}

/** Prints the row of a workload for both servers. @returns whether it is valid */
export function printRow(
  say: Say,
  { name, target }: Workload,
  { service, limit }: { service: Measurement[]; limit: Measurement[] },
): boolean {
  // Each run is compared with the one beside it, so that other work on the machine meets both.
  const ratios = service.map(({ perSecond }, index) => perSecond / (limit[index]?.perSecond ?? 0));
  const ratio = median(ratios);
  const range = `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`;
  const verdict = `${ratio.toFixed(2)} (${range}), target ${target}: ${ratio >= target ? 'met' : 'NOT met'}`;
  say(line([name, 'service', ...describe(service), verdict]));
  say(line(['', 'limit', ...describe(limit), '']));
  const failures = [...service, ...limit].flatMap((run) => run.failures);
  if (failures.length > 0) say(`INVALID: ${name} had ${failures.join(', ')}`);
  return failures.length === 0;
}

function describe(runs: Measurement[]): string[] {
  const of = (read: (run: Measurement) => number, digits = 0) => median(runs.map(read)).toFixed(digits);
  return [
    of(({ perSecond }) => perSecond),
    of(({ p50 }) => p50, 1),
    of(({ p99 }) => p99, 1),
    `${of(({ serverCpu }) => serverCpu)} + ${of(({ postgresCpu }) => postgresCpu)}`,
    of(({ peakMemory }) => peakMemory),
  ];
}
