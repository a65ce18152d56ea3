import process from 'node:process';
import { parseArgs } from 'node:util';
import { execute } from '../test/support/database.ts';
import { readUsers } from './data.ts';
import { measureFlood } from './flood.ts';
import { createMeter, type Measurement, resetPeaks } from './meter.ts';
import { hasProc, memory } from './processes.ts';
import { compareResponses } from './responses.ts';
import { copyDatabase, startBaselineServer, startDatabase, startMeasuredService } from './servers.ts';
import { formatHead, formatRatio, formatRow } from './table.ts';
import { type Field, type Target, targetsOf } from './targets.ts';
import { type Workload, workloads } from './workloads.ts';

/*
 * npm run bench [-- --only me,login --seconds 4 --rounds 3 --connections 32 --tool wrk --commit-latency 10]
 *
 * The service beside a server that does the least that the same responses need, in turns. Exit code 1 when a response was not 2xx.
 */

const { values } = parseArgs({
  args: process.argv.slice(process.argv[2] === 'compare' ? 3 : 2),
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    tool: { type: 'string', default: 'autocannon' },
    'commit-latency': { type: 'string', default: '0' },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = Number(values.connections);
if (!(seconds >= 1 && seconds <= 60)) throw new Error('--seconds is 1 to 60');
if (!(rounds >= 1 && rounds <= 20)) throw new Error('--rounds is 1 to 20');
if (!(connections >= 1 && connections <= 1000)) throw new Error('--connections is 1 to 1000');
const commitLatency = Number(values['commit-latency']);
if (!(commitLatency >= 0 && commitLatency <= 100)) throw new Error('--commit-latency is 0 to 100');
if (!['autocannon', 'wrk'].includes(values.tool)) throw new Error('--tool is autocannon or wrk');
const names = [...workloads.map(({ name }) => name), 'flood'];
const chosen = values.only?.split(',') ?? names;
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`unknown workloads: ${unknown.join(', ')}`);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Until the engine has compiled what the workload needs. */
async function warmUp({ run, settle }: Target, { warmUp }: Workload): Promise<string[]> {
  const errors: string[] = [];
  const end = performance.now() + 20_000;
  for (let sent = 0; sent < warmUp && performance.now() < end; ) {
    const result = await run(1);
    sent += result.requests;
    errors.push(...result.errors);
  }
  await settle?.();
  return errors;
}

/** Measures a workload and prints its rows. */
async function compare(workload: Workload, field: Field): Promise<void> {
  const targets = targetsOf(workload, field);
  const errors = await compareResponses(targets);
  for (const target of targets) errors.push(...(await warmUp(target, workload)));
  await resetPeaks(targets);
  const runs = new Map<Target, Measurement[]>(targets.map((target) => [target, []]));
  for (let round = 0; round < rounds; round++) {
    for (const target of targets) {
      runs.get(target)?.push(await meter.measure(target, seconds));
      await target.settle?.();
    }
  }
  const [own = [], limit = []] = targets.map((target) => runs.get(target));
  for (const [{ label }, measured] of runs) {
    const isService = measured === own;
    const verdict = isService ? formatRatio(own, limit, workload.goal) : '';
    say(formatRow({ workload: isService ? workload.name : '', label, runs: measured, verdict }));
    errors.push(...measured.flatMap((run) => run.errors.map((error) => `${label}: ${error}`)));
  }
  report(workload.name, errors);
}

/** Figures of requests that failed say nothing. */
function report(name: string, errors: string[]): void {
  if (errors.length === 0) return;
  say(`INVALID: ${name}: ${[...new Set(errors)].join('; ')}`);
  process.exitCode = 1;
}

if (!hasProc) say('CPU time and memory are missing: they need /proc of Linux.');
const stops: (() => unknown)[] = [];
const database = await startDatabase();
stops.push(database.stop);
if (commitLatency > 0) {
  // Each commit waits as for a synchronous standby, with the locks that PostgreSQL keeps until then.
  await execute(database.url, `ALTER SYSTEM SET commit_delay = ${commitLatency * 1_000}`);
  await execute(database.url, 'ALTER SYSTEM SET commit_siblings = 0');
  await execute(database.url, 'SELECT pg_reload_conf()');
}
const meter = await createMeter(database);
stops.push(meter.close);
try {
  const limitDatabase = await copyDatabase(database.url, 'dure_limit');
  const users = await readUsers(database.url);
  const service = await startMeasuredService(database.url, database.mailUrl);
  stops.push(service.end);
  const limit = await startBaselineServer(limitDatabase);
  stops.push(limit.end);
  const idle = await Promise.all([service, limit].map(({ pid }) => memory(pid)));
  say(
    `Memory at start in MiB, service and limit: ${idle.map(({ resident }) => resident.toFixed(0)).join(', ')}`,
  );
  say(formatHead());
  const field = { service, limit, users, connections, tool: values.tool };
  for (const workload of workloads.filter(({ name }) => chosen.includes(name))) {
    await compare(workload, field);
  }
  if (chosen.includes('flood')) {
    const servers = [
      ['service', service],
      ['limit', limit],
    ] satisfies Parameters<typeof measureFlood>[0];
    const { lines, errors } = await measureFlood(servers, users, { seconds, rounds });
    for (const line of lines) say(line);
    report('flood', errors);
  }
} finally {
  for (const stop of stops.reverse()) await stop();
}
