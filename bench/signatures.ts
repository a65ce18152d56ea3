import process from 'node:process';
import { parseArgs } from 'node:util';
import { generatePrivateKey } from '../src/infrastructure/config/private-keys.ts';
import { readUsers } from './data.ts';
import { createMeter, type Measurement } from './meter.ts';
import { startDatabase, startMeasuredService } from './servers.ts';
import { formatHead, formatRatio, formatRow } from './table.ts';
import { targetsOf } from './targets.ts';
import { workloads } from './workloads.ts';

/*
 * npm run bench -- signatures [--seconds 4 --rounds 5]
 *
 * `me` of one service with access tokens of a private key beside those of the secret, in turns. Both are verified once and then
 * cached.
 */

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { seconds: { type: 'string', default: '4' }, rounds: { type: 'string', default: '5' } },
});
const workload = workloads.find(({ name }) => name === 'me');
if (!workload) throw new Error('there is no workload "me"');
const key = generatePrivateKey('ES256');
const database = await startDatabase();
const meter = await createMeter(database);
const service = await startMeasuredService(database.url, database.mailUrl, { JWT_PRIVATE_KEY: key.pem });
try {
  const targets = [];
  for (const privateKeys of [[key], []]) {
    const users = await readUsers(database.url, privateKeys);
    const [target] = targetsOf(workload, {
      service,
      limit: service,
      users,
      connections: 32,
      tool: 'autocannon',
    });
    targets.push({ ...target, label: privateKeys.length > 0 ? 'ES256' : 'HS256', runs: [] as Measurement[] });
  }
  for (const target of targets) await target.run(4);
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const target of targets) target.runs.push(await meter.measure(target, Number(values.seconds)));
  }
  const [es256 = [], hs256 = []] = targets.map(({ runs }) => runs);
  const lines = targets.map(({ label, runs }) => {
    const verdict = runs === es256 ? formatRatio(es256, hs256, 0.97) : '';
    return formatRow({ workload: 'me', label, runs, verdict });
  });
  process.stdout.write(`${[formatHead(), ...lines].join('\n')}\n`);
  const errors = [...es256, ...hs256].flatMap((run) => run.errors);
  if (errors.length > 0) throw new Error([...new Set(errors)].join('; '));
} finally {
  await service.end();
  await meter.close();
  await database.stop();
}
