import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchUser } from '../data.ts';
import { getStatus, summarize } from '../load.ts';
import { cpuTime, cpuTimeWithChildren, machineTime, memory } from '../processes.ts';
import type { MeasuredServer } from '../servers.ts';

/** Requests a second. */
const rate = 20;

interface Watched {
  server: MeasuredServer;
  postmaster: number;
  user: BenchUser;
}

/** Milliseconds as `p50 / p99`. */
export function describe(times: number[]): string {
  const { p50, p99 } = summarize(times, 1);
  return `${p50.toFixed(0)} / ${p99.toFixed(0)}`;
}

/**
 * Measures what something costs: CPU time of the instance and of PostgreSQL, and `me` at an even pace beside it, whose times count
 * from when each request was due.
 *
 * @returns cells of the table
 */
export async function watch(
  { server, postmaster, user }: Watched,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const before = await readTimes(server, postmaster);
  const started = performance.now();
  const probe = probeOthers(server, user);
  await work();
  const elapsed = (performance.now() - started) / 1000;
  const { times, rejected } = await probe.stop();
  const after = await readTimes(server, postmaster);
  const seconds = (name: keyof typeof before) => ((after[name] - before[name]) / 1e6).toFixed(2);
  const others =
    (after.machine -
      before.machine -
      (after.postgres - before.postgres) -
      (after.service - before.service) -
      (after.own - before.own)) /
    1e6 /
    elapsed;
  return [
    elapsed.toFixed(1),
    seconds('service'),
    seconds('postgres'),
    describe(times) + (rejected > 0 ? `, ${rejected} of ${times.length} rejected` : ''),
    others.toFixed(1),
  ];
}

async function readTimes({ pid }: MeasuredServer, postmaster: number) {
  const { user, system } = process.cpuUsage();
  return {
    service: await cpuTime(pid),
    postgres: await cpuTimeWithChildren(postmaster),
    machine: (await machineTime()).busy,
    own: user + system,
  };
}

/** Sends `me` at an even pace until it is stopped. */
export function probeOthers({ url }: MeasuredServer, { access }: BenchUser) {
  const agent = new Agent({ keepAlive: true });
  const stopping = new AbortController();
  const times: number[] = [];
  let rejected = 0;
  async function sendAll(): Promise<void> {
    const started = performance.now();
    const sent: Promise<void>[] = [];
    for (let due = 0; !stopping.signal.aborted; due += 1000 / rate) {
      const wait = due - (performance.now() - started);
      if (wait > 0) await sleep(wait);
      sent.push(
        getStatus(`${url}/auth/me/`, access, agent).then((status) => {
          times.push(performance.now() - started - due);
          if (status !== 200) rejected++;
        }),
      );
    }
    await Promise.all(sent);
  }
  const sending = sendAll();
  return {
    async stop() {
      stopping.abort();
      await sending;
      agent.destroy();
      return { times, rejected };
    },
  };
}

/**
 * Memory of an instance without requests, in MiB. Live memory is the least that was seen, which is what a garbage collection
 * leaves of the heap and of what it owns outside; resident memory has garbage and free pages, too.
 */
export async function readMemory({ pid, url }: MeasuredServer) {
  let live = Number.POSITIVE_INFINITY;
  for (let second = 0; second < 10; second++) {
    await sleep(1000);
    const text = await (await fetch(`${url}/metrics`)).text();
    const read = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
    live = Math.min(
      live,
      (read('nodejs_heap_size_used_bytes') + read('nodejs_external_memory_bytes')) / 2 ** 20,
    );
  }
  return { live, resident: (await memory(pid)).resident };
}
