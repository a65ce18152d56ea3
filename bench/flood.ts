import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchUser } from './data.ts';
import { getStatus, type LoadResult, sendLoad, summarize } from './load.ts';
import type { MeasuredServer } from './servers.ts';
import { formatLine } from './table.ts';
import { login } from './workloads.ts';

/*
 * How long a cheap request takes while others log in: `me`, evenly paced, alone and beside connections that log in all the time.
 */

/** Requests a second. */
const rate = 100;
const logins = 16;
/** The time under logins, as a multiple of that without. */
const target = 3;

interface Flood {
  idle: number[];
  flooded: number[];
  errors: string[];
}

/** Measures both servers in turns. @returns the lines of the table, and what failed */
export async function measureFlood(
  servers: [label: string, server: MeasuredServer][],
  users: BenchUser[],
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<{ lines: string[]; errors: string[] }> {
  const floods = servers.map(([label, server]) => {
    const flood: Flood = { idle: [], flooded: [], errors: [] };
    return { label, server, flood };
  });
  for (let round = 0; round < rounds; round++) {
    for (const { server, flood } of floods) await addRound(server, users, seconds, flood);
  }
  const lines = floods.map(({ label, flood }, index) => {
    const idle = summarize(flood.idle, 1);
    const flooded = summarize(flood.flooded, 1);
    const factor = flooded.p99 / idle.p99;
    const verdict = index > 0 ? '' : `, target ${target} ${factor <= target ? 'met' : 'MISSED'}`;
    const [name, ...cells] = index > 0 ? ['', label] : ['me at 100/s under 16 logins', label];
    return formatLine([
      name ?? '',
      ...cells,
      String(rate),
      flooded.p50.toFixed(1),
      flooded.p99.toFixed(1),
      ...['', '', '', ''],
      `${factor.toFixed(1)} x p99 without logins (${idle.p99.toFixed(1)} ms)${verdict}`,
    ]);
  });
  return { lines, errors: floods.flatMap(({ flood }) => flood.errors) };
}

async function addRound(
  server: MeasuredServer,
  users: BenchUser[],
  seconds: number,
  flood: Flood,
): Promise<void> {
  const senders = await login.createSenders({ server, users, connections: logins });
  const alone = await sendPaced(server.url, users, seconds);
  const [load, beside] = await Promise.all([
    sendLoad(server.url, senders, seconds + 1),
    sleep(500).then(() => sendPaced(server.url, users, seconds)),
  ]);
  flood.idle.push(...alone.times);
  flood.flooded.push(...beside.times);
  flood.errors.push(...load.errors, ...alone.errors, ...beside.errors);
}

/** Sends requests at a steady pace, whether the last ones are answered or not; each time counts from when it was due. */
async function sendPaced(url: string, users: BenchUser[], seconds: number) {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const errors: LoadResult['errors'] = [];
  const started = performance.now();
  const sent = Array.from({ length: seconds * rate }, async (_, index) => {
    const due = (index * 1000) / rate;
    await sleep(due);
    const status = await getStatus(`${url}/auth/me/`, users[index % users.length]?.access ?? '', agent);
    times.push(performance.now() - started - due);
    if (status !== 200) errors.push(`me answered ${status}`);
  });
  await Promise.all(sent);
  agent.destroy();
  return { times, errors };
}
