import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** What each test file of a run costs, which the processes of the run write into one file. */
const nameOf = (folder: string) => join(folder, 'costs.jsonl');

interface Cost {
  file: string;
  /** Of CPU. */
  seconds: number;
}

export function addCost(folder: string, cost: Cost): void {
  appendFileSync(nameOf(folder), `${JSON.stringify(cost)}\n`);
}

/** Seconds of CPU of each file that has ended. */
export function readCosts(folder: string): Map<string, number> {
  if (!existsSync(nameOf(folder))) return new Map();
  const lines = readFileSync(nameOf(folder), 'utf8').trim().split('\n');
  const costs = lines.map((line): Cost => JSON.parse(line));
  return new Map(costs.map(({ file, seconds }) => [file, seconds]));
}

/** Of this process and those that it started and that have ended; without `/proc` of this process alone. */
export function cpuSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // utime, stime, cutime and cstime of proc(5), in hundredths of a second; the name in parentheses may contain blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
