import process from 'node:process';
import { parseArgs } from 'node:util';
import { readUsers } from './data.ts';
import { measureInstances } from './instances.ts';
import { startDatabase } from './servers.ts';

/*
 * npm run bench -- growth [--seconds 4] [--instances 1,2,4]
 *
 * What more instances on one database give.
 */

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { seconds: { type: 'string', default: '4' }, instances: { type: 'string', default: '1,2,4' } },
});
const seconds = Number(values.seconds);
const counts = values.instances.split(',').map(Number);
if (!(seconds >= 1 && seconds <= 60)) throw new Error('--seconds is 1 to 60');
if (!counts.every((count) => count >= 1 && count <= 8))
  throw new Error('--instances are numbers from 1 to 8');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const database = await startDatabase();
try {
  const users = await readUsers(database.url);
  const errors = await measureInstances(say, { database, users, counts, seconds });
  if (errors.length > 0) {
    say(`INVALID: ${[...new Set(errors)].join('; ')}`);
    process.exitCode = 1;
  }
} finally {
  await database.stop();
}
