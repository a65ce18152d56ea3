import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startEmbeddedServer } from '../../../src/development/embedded-postgres/server.ts';
import { until } from '../../support/until.ts';
import {
  allEnd,
  checkNote,
  postmasterPid,
  processesIn,
  query,
  signalAll,
  startProcess,
  temporaryFolder,
  writeNote,
} from './support.ts';

t.setTimeout(120_000);
t.jobs = 4;

t.test('a service that is killed leaves no process and no damage', async (t) => {
  const directory = await temporaryFolder(t);
  const starter = startProcess(t, directory);
  await writeNote(await starter.nextLine());
  await starter.kill('SIGKILL');
  await checkNote(t, directory, 'a start right afterwards waits for PostgreSQL to shut down');

  const again = startProcess(t, directory);
  await again.nextLine();
  t.ok((await processesIn(directory)).length > 3);
  await again.kill('SIGKILL');
  t.ok(await allEnd(directory), 'no process is left');
});

t.test('a first start that is killed at any moment is repaired by the next', async (t) => {
  const directory = await temporaryFolder(t);
  const created = [
    'server.lock',
    'initializing',
    'initializing/PG_VERSION',
    'cluster',
    'cluster/postmaster.pid',
  ];
  for (const path of created) {
    const starter = startProcess(t, directory);
    while (!existsSync(join(directory, path))) await sleep(2);
    await starter.kill('SIGKILL');
    t.ok(await allEnd(directory), `no process is left when it is killed after creating ${path}`);
  }
  const server = await startEmbeddedServer({ directory });
  t.same(await query(server.url, 'SELECT 1'), [1]);
  await server.stop();
  t.same(await readdir(directory), ['cluster', 'password', 'server.lock']);
});

t.test(
  'after a kill of all processes a start recovers, even if the process id is in use again',
  async (t) => {
    const directory = await temporaryFolder(t);
    const starter = startProcess(t, directory);
    await writeNote(await starter.nextLine());
    const pid = await postmasterPid(directory);
    const processes = await processesIn(directory);
    starter.child.kill('SIGKILL');
    signalAll(processes, 'SIGKILL');
    t.ok(await allEnd(directory));
    const lock = join(directory, 'server.lock');
    await until('the lock is released', () => spawnSync('flock', ['-n', lock, 'true']).status !== 1);

    const unrelated = spawn('sleep', ['60']);
    await once(unrelated, 'spawn');
    t.teardown(() => unrelated.kill('SIGKILL'));
    const pidFile = join(directory, 'cluster/postmaster.pid');
    await writeFile(pidFile, (await readFile(pidFile, 'utf8')).replace(`${pid}`, `${unrelated.pid}`));
    await writeFile(lock, `${unrelated.pid}\n`);
    await checkNote(t, directory, 'committed data is there');
    t.equal(unrelated.exitCode ?? unrelated.signalCode, null, 'the unrelated process still runs');
  },
);
