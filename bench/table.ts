import type { Measurement } from './meter.ts';

/** What is printed of a target at a workload. */
interface Row {
  workload: string;
  label: string;
  runs: Measurement[];
  /** How it compares. */
  verdict?: string;
}

const columns: [head: string, width: number][] = [
  ['workload', 14],
  ['server', 19],
  ['req/s', 6],
  ['p50 ms', 6],
  ['p99 ms', 6],
  ['CPU us: server + PostgreSQL', 27],
  ['transactions', 12],
  ['peak MiB', 8],
  ['others', 6],
  ['ratio', 54],
];

/** The head of the table. */
export function formatHead(): string {
  return `${formatLine(columns.map(([head]) => head))}\n|${columns.map(([, width]) => '-'.repeat(width + 2)).join('|')}|`;
}

/** The medians of the runs. */
export function formatRow({ workload, label, runs, verdict = '' }: Row): string {
  const answered = runs.filter(({ requests }) => requests > 0);
  const of = (read: (run: Measurement) => number, digits = 0) => median(answered.map(read)).toFixed(digits);
  return formatLine([
    workload,
    label,
    median(runs.map(({ perSecond }) => perSecond)).toFixed(0),
    of(({ p50 }) => p50, 1),
    of(({ p99 }) => p99, 1),
    `${of(({ cpu }) => cpu)} + ${of(({ postgresCpu }) => postgresCpu)}`,
    transactionsOf(answered).toFixed(1),
    of(({ peakMemory }) => peakMemory),
    `${of(({ others }) => others * 100)} %`,
    verdict,
  ]);
}

function transactionsOf(runs: Measurement[]): number {
  const total = runs.reduce((sum, { requests }) => sum + requests, 0);
  return runs.reduce((sum, { transactions, requests }) => sum + transactions * requests, 0) / total;
}

/** A line of the table, in Markdown. */
export function formatLine(cells: string[]): string {
  return `| ${columns.map(([, width], index) => (cells[index] ?? '').padEnd(width)).join(' | ')} |`;
}

/** The middle of some numbers. */
export function median(numbers: number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return ((sorted[Math.floor(sorted.length / 2)] ?? 0) + (sorted[Math.ceil(sorted.length / 2) - 1] ?? 0)) / 2;
}

/** How the service compares. Each run is compared with the one beside it, so that other work on the machine meets both. */
export function formatRatio(service: Measurement[], limit: Measurement[], goal: number): string {
  const ratios = service.map(({ perSecond }, index) => perSecond / (limit[index]?.perSecond ?? 0));
  const ratio = median(ratios);
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  const cpuOf = (runs: Measurement[]) => median(runs.map(({ cpu, postgresCpu }) => cpu + postgresCpu));
  const byCpu = (cpuOf(limit) / cpuOf(service)).toFixed(2);
  return `${ratio.toFixed(2)} (${range}), by CPU ${byCpu}, goal ${goal} ${ratio >= goal ? 'met' : 'MISSED'}`;
}
