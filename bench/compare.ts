import { databaseUrl, execute } from '../test/support/database.ts';
import { readOptions, say, sayErrors, sayHead, sayRow } from './command-line.ts';
import { type BenchUser, readUsers } from './data.ts';
import { type Server, withDatabase } from './environment.ts';
import { median } from './load.ts';
import { memory, sum } from './processes.ts';
import { type Figures, runWorkload, type Workload, workloads } from './workloads.ts';

/**
 * npm run bench [-- --only me,login --seconds 4 --rounds 3 --connections 32]
 *
 * The service beside a hand-written server that does the least that the same responses need, in turns.
 */
export async function compare(args: string[]): Promise<void> {
  const options = readOptions(args, { only: '', seconds: '4', rounds: '3', connections: '32' });
  const [seconds, connections] = [Number(options.seconds), Number(options.connections)];
  const chosen = workloads.filter(
    ({ name, goal }) => goal && (options.only === '' || options.only.split(',').includes(name)),
  );
  if (chosen.length === 0) throw new Error(`no workload is named ${options.only}`);
  await withDatabase(async ({ url, postmaster, start, startBaseline }) => {
    const users = await readUsers(url);
    const baselineUrl = await copyDatabase(url);
    const [service, baseline] = [await start(), await startBaseline(baselineUrl)];
    const [own, other] = [await memory(service.pid), await memory(baseline.pid)];
    say(`Memory at start in MiB, service and baseline: ${own.toFixed(0)}, ${other.toFixed(0)}`);
    sayHead([
      ...['workload', 'server', 'req/s', 'p50 ms', 'p99 ms', 'CPU us: server + PostgreSQL'],
      ...['peak MiB', 'cores that others used', 'ratio'],
    ]);
    for (const workload of chosen) {
      const errors = await compareResponses(workload, [service, baseline], users);
      const measure = async (server: Server) => {
        const load = { servers: [server], postmaster, users, connections, seconds };
        const run = await runWorkload(workload, load);
        errors.push(...run.errors);
        return run;
      };
      // The engine compiles what the workload needs. Then PostgreSQL learns that tables are no longer empty, as it does within a minute.
      for (const server of [service, baseline]) await measure(server);
      for (const { databaseUrl } of [service, baseline]) await execute(databaseUrl, 'ANALYZE');
      const [own, other]: [Figures[], Figures[]] = [[], []];
      for (let round = 0; round < Number(options.rounds); round++) {
        own.push(await measure(service));
        other.push(await measure(baseline));
      }
      sayRow([workload.name, 'service', ...cellsOf(own), formatRatio(own, other, workload.goal)]);
      sayRow(['', 'baseline', ...cellsOf(other), '']);
      sayErrors(workload.name, errors);
    }
  });
}

/** Copies the database, to which no connection may be open. @returns the URL of the copy */
async function copyDatabase(url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  await execute(databaseUrl(url, 'postgres'), `CREATE DATABASE ${name}_baseline TEMPLATE ${name}`);
  return databaseUrl(url, `${name}_baseline`);
}

/** The medians of the runs. */
function cellsOf(runs: Figures[]): string[] {
  const of = (value: (run: Figures) => number, digits = 0) => median(runs.map(value)).toFixed(digits);
  return [
    ...[of(({ perSecond }) => sum(perSecond)), of(({ p50 }) => p50, 1), of(({ p99 }) => p99, 1)],
    `${of(({ cpu }) => cpu)} + ${of(({ postgresCpu }) => postgresCpu)}`,
    ...[of(({ peak }) => peak), of(({ others, elapsed }) => others / elapsed, 1)],
  ];
}

/** Each run is compared with the one beside it, so that other work on the machine meets both. */
function formatRatio(own: Figures[], other: Figures[], goal = 0): string {
  const ratios = own.map(({ perSecond }, index) => sum(perSecond) / sum(other[index]?.perSecond ?? []));
  const ratio = median(ratios);
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  const cpuOf = (runs: Figures[]) => median(runs.map(({ cpu, postgresCpu }) => cpu + postgresCpu));
  const byCpu = (cpuOf(other) / cpuOf(own)).toFixed(2);
  return `${ratio.toFixed(2)} (${range}), by CPU ${byCpu}, goal ${goal} ${ratio >= goal ? 'met' : 'MISSED'}`;
}

/**
 * Checks that both respond alike, as otherwise their times say nothing: the same text to a `GET`; to a `POST`, whose responses have
 * new ids and times, the same fields.
 *
 * @returns what differs
 */
async function compareResponses(
  workload: Workload,
  servers: Server[],
  users: BenchUser[],
): Promise<string[]> {
  const responses = servers.map(async (server) => {
    const [sender] = await workload.createSenders({ server, users, connections: 1 });
    if (!sender) throw new Error('there is nothing to send');
    const { method, path, headers, next } = sender;
    const response = await fetch(server.url + path, { method, headers, ...next?.() });
    const text = await response.text();
    return `${response.status} ${method === 'GET' ? text : JSON.stringify(shapeOf(JSON.parse(text)))}`;
  });
  const [own, other] = await Promise.all(responses);
  return own === other ? [] : [`the responses differ: ${own}, ${other}`];
}

/** The names and types of what is in a response, sorted. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.entries(value)
    .map(([name, inner]) => [name, shapeOf(inner)])
    .sort();
}
