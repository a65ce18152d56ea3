import process from 'node:process';
import { parseArgs } from 'node:util';
import { readUsers } from './data.ts';
import { sendLoad, sendWrkLoad } from './load.ts';
import { createMeter } from './meter.ts';
import { hasProc } from './processes.ts';
import {
  copyDatabase,
  type MeasuredServer,
  startDatabase,
  startLimitServer,
  startMeasuredService,
} from './servers.ts';
import { printHeader, printRow } from './table.ts';
import { workloads } from './workloads.ts';

/*
 * npm run bench [-- --only me,login --seconds 4 --rounds 3 --connections 32 --tool wrk]
 *
 * The service beside a server that does the least that the same answers need, in turns. Exit code 1 when an answer was not 2xx.
 */

const { values } = parseArgs({
  args: process.argv.slice(process.argv[2] === 'compare' ? 3 : 2),
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    tool: { type: 'string', default: 'autocannon' },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = Number(values.connections);
if (!(seconds >= 1 && seconds <= 60)) throw new Error('--seconds is 1 to 60');
if (!(rounds >= 1 && rounds <= 20)) throw new Error('--rounds is 1 to 20');
if (!(connections >= 1 && connections <= 1000)) throw new Error('--connections is 1 to 1000');
const names = values.only?.split(',');
const unknown = names?.filter((name) => !workloads.some((workload) => workload.name === name)) ?? [];
if (unknown.length > 0) throw new Error(`unknown workloads: ${unknown.join(', ')}`);

const say = (line: string) => process.stdout.write(`${line}\n`);
if (!hasProc) say('CPU time and memory need /proc of Linux and are left out.');

const database = await startDatabase();
const servers: MeasuredServer[] = [];
try {
  const limitDatabase = await copyDatabase(database.url, 'dure_limit');
  const users = await readUsers(database.url);
  const service = await startMeasuredService(database.url, database.mailUrl);
  servers.push(service);
  const limit = await startLimitServer(limitDatabase);
  servers.push(limit);
  const meter = createMeter(database.postmaster);
  await printHeader(say, service, limit);
  for (const workload of workloads) {
    if (names && !names.includes(workload.name)) continue;
    const run = async (server: MeasuredServer, duration = seconds) => {
      const senders = await workload.createSenders(server, users, connections);
      const send = values.tool === 'wrk' && !senders[0]?.nextBody ? sendWrkLoad : sendLoad;
      return meter.measure(server, () => send(server.url, senders, duration));
    };
    const measured = { service: [], limit: [] } as Record<
      'service' | 'limit',
      Awaited<ReturnType<typeof run>>[]
    >;
    await run(service, 1.5);
    await run(limit, 1.5);
    await meter.startPeaks(service, limit);
    for (let round = 0; round < rounds; round++) {
      measured.service.push(await run(service));
      measured.limit.push(await run(limit));
    }
    const isValid = printRow(say, workload, measured);
    if (!isValid) process.exitCode = 1;
  }
} finally {
  await Promise.all(servers.map((server) => server.end()));
  await database.stop();
}
