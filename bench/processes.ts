import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/*
 * CPU time and memory of processes, from Linux' /proc.
 */

/** Seconds: a tick of /proc is 10 ms on every Linux. */
const tick = 0.01;

export const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** The numbers of /proc/<pid>/stat after the name, which may contain spaces; none of a process that ended. */
async function readStat(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const numbers = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return numbers.map(Number);
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/**
 * User and system time of a process and of all its children, in seconds. The kernel adds the time of a child that ends to its
 * parent's, so nothing is lost; where that happens between two reads, they are repeated.
 */
async function cpuTime(pid: number): Promise<number> {
  for (;;) {
    const before = await readStat(pid);
    const living = await Promise.all((await childrenOf(pid)).map(readStat));
    const after = await readStat(pid);
    const ended = after.slice(13, 15);
    if (sum(ended) === sum(before.slice(13, 15)))
      return (sum(after.slice(11, 15)) + sum(living.map((one) => sum(one.slice(11, 13))))) * tick;
  }
}

/** Seconds for which all processors worked since the start of the machine. */
async function busyTime(): Promise<number> {
  const [line = ''] = (await readFile('/proc/stat', 'latin1')).split('\n', 1);
  const times = line.split(/\s+/).slice(1, 8).map(Number);
  // But the fourth and fifth, which are idle time.
  return sum([...times.slice(0, 3), ...times.slice(5)]) * tick;
}

/** Resident memory of a process with its children, in MiB. */
export async function memory(pid: number): Promise<number> {
  const sizes = [pid, ...(await childrenOf(pid))].map(async (one) => {
    const text = await readFile(`/proc/${one}/status`, 'latin1').catch(() => '');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
  });
  return sum(await Promise.all(sizes));
}

/**
 * Measures what instances and PostgreSQL do while work runs.
 *
 * @returns the result of the work; seconds that it took, and seconds of CPU of all instances (with the processes that convert
 *   images), of PostgreSQL, of this process, which sends the load, and of others, because of which a run should be repeated; the most
 *   resident memory of the first instance, in MiB
 */
export async function costOf<Result>(
  { servers, postmaster }: { servers: { pid: number }[]; postmaster: number },
  work: () => Promise<Result>,
) {
  const read = async () => {
    const instances = sum(await Promise.all(servers.map(({ pid }) => cpuTime(pid))));
    const postgres = await cpuTime(postmaster);
    const { user, system } = process.cpuUsage();
    const load = (user + system) / 1e6;
    return { instances, postgres, load, others: (await busyTime()) - instances - postgres - load };
  };
  let [peak, isRunning] = [0, true];
  const sampling = (async () => {
    for (const pid = servers[0]?.pid ?? postmaster; isRunning; await sleep(50))
      peak = Math.max(peak, await memory(pid));
  })();
  const [before, started] = [await read(), performance.now()];
  const result = await work().finally(() => (isRunning = false));
  const [after, elapsed] = [await read(), (performance.now() - started) / 1_000];
  await sampling;
  const since = (of: keyof typeof before) => after[of] - before[of];
  const costs = { instances: since('instances'), postgres: since('postgres'), load: since('load') };
  return { result, elapsed, peak, ...costs, others: Math.max(0, since('others')) };
}
