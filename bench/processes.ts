import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { clusterPath } from '../src/development/embedded-postgres/server.ts';

/*
 * CPU time and memory of processes, from Linux' /proc. Elsewhere the figures are missing.
 */

/** Whether this system has the figures. */
export const hasProc = existsSync('/proc/self/stat');

/** A tick of /proc is 10 ms on every Linux. */
const tick = 10_000;

/** The numbers of /proc/<pid>/stat after the name, which may contain spaces. */
async function readStat(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1');
  return text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** User and system time of a process with its threads, in microseconds. */
export async function cpuTime(pid: number): Promise<number> {
  return hasProc ? sum((await readStat(pid)).slice(11, 13)) * tick : Number.NaN;
}

/**
 * User and system time of a process and of all its children, in microseconds. The kernel adds the time of a child that ends to
 * its parent's, so nothing is lost; where that happens between two reads, they are repeated.
 */
export async function cpuTimeWithChildren(pid: number): Promise<number> {
  if (!hasProc) return Number.NaN;
  for (;;) {
    const before = await readStat(pid);
    const living = await Promise.all((await childrenOf(pid)).map(readTimes));
    const after = await readStat(pid);
    const ended = after.slice(13, 15);
    if (sum(ended) === sum(before.slice(13, 15))) return (sum(after.slice(11, 15)) + sum(living)) * tick;
  }
}

/** 0 for a process that ended. */
async function readTimes(pid: number): Promise<number> {
  return sum((await readStat(pid).catch(() => [])).slice(11, 13));
}

async function childrenOf(pid: number): Promise<number[]> {
  const parents = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => ({
        child: Number(name),
        parent: (await readStat(Number(name)).catch(() => []))[1],
      })),
  );
  return parents.filter(({ parent }) => parent === pid).map(({ child }) => child);
}

/** The time that all processors worked and had in all since the start of the machine, in microseconds. */
export async function machineTime(): Promise<{ busy: number; total: number }> {
  if (!hasProc) return { busy: Number.NaN, total: Number.NaN };
  const [line = ''] = (await readFile('/proc/stat', 'latin1')).split('\n', 1);
  const [user = 0, nice = 0, system = 0, idle = 0, ioWait = 0, interrupt = 0, softInterrupt = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const busy = user + nice + system + interrupt + softInterrupt;
  return { busy: busy * tick, total: (busy + idle + ioWait) * tick };
}

/** The process id of an embedded PostgreSQL server, the parent of all its processes. */
export async function postmasterOf(directory: string): Promise<number> {
  const text = await readFile(join(clusterPath(directory), 'postmaster.pid'), 'latin1');
  return Number(text.split('\n')[0]);
}

/** Resident memory of a process in MiB: now, and the most since {@link resetPeakMemory}. */
export async function memory(pid: number): Promise<{ resident: number; peak: number }> {
  if (!hasProc) return { resident: Number.NaN, peak: Number.NaN };
  const text = await readFile(`/proc/${pid}/status`, 'latin1');
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  return { resident: read('VmRSS'), peak: read('VmHWM') };
}

/** The most resident memory of a process with its children, sampled every 20 ms until the work ends; in MiB. */
export async function peakWithChildren(pid: number, work: Promise<unknown>): Promise<number> {
  if (!hasProc) return work.then(() => Number.NaN);
  let isRunning = true;
  const end = () => {
    isRunning = false;
  };
  work.then(end, end);
  let peak = 0;
  while (isRunning) {
    const processes = [pid, ...(await childrenOf(pid))];
    // A child may end meanwhile.
    const sizes = processes.map((one) =>
      memory(one).then(
        ({ resident }) => resident || 0,
        () => 0,
      ),
    );
    peak = Math.max(peak, sum(await Promise.all(sizes)));
    await sleep(20);
  }
  await work;
  return peak;
}

/** Starts a new measurement of the peak. Where the kernel rejects, the peak is that since the start of the process. */
export async function resetPeakMemory(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => undefined);
}
