import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startEmbeddedServer } from '../../src/embedded-postgres/server.ts';
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

t.test('a service that is killed leaves no process', async (t) => {
  const directory = await temporaryFolder(t);
  const starter = startProcess(t, directory);
  await starter.nextLine();
  t.ok((await processesIn(directory)).length > 3);
  await starter.kill('SIGKILL');
  t.ok(await allEnd(directory));
});

t.test('a start right after a kill waits for PostgreSQL to shut down, and the data is there', async (t) => {
  const directory = await temporaryFolder(t);
  const starter = startProcess(t, directory);
  await writeNote(await starter.nextLine());
  await starter.kill('SIGKILL');
  await checkNote(t, directory, 'the data is there');
});

const moments = [
  'server.lock',
  'initializing',
  'initializing/PG_VERSION',
  'cluster',
  'cluster/postmaster.pid',
];
for (const path of moments) {
  t.test(`a first start that is killed when it has created ${path} is repaired by the next`, async (t) => {
    const directory = await temporaryFolder(t);
    const starter = startProcess(t, directory);
    while (!existsSync(join(directory, path))) await sleep(2);
    await starter.kill('SIGKILL');
    t.ok(await allEnd(directory), 'no process is left');
    const server = await startEmbeddedServer({ directory });
    t.same(await query(server.url, 'SELECT 1'), [1]);
    await server.stop();
    t.same(await readdir(directory), ['cluster', 'password', 'server.lock']);
  });
}

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

    const unrelated = spawn('sleep', ['60']);
    await once(unrelated, 'spawn');
    t.teardown(() => unrelated.kill('SIGKILL'));
    const pidFile = join(directory, 'cluster/postmaster.pid');
    await writeFile(pidFile, (await readFile(pidFile, 'utf8')).replace(`${pid}`, `${unrelated.pid}`));
    await writeFile(join(directory, 'server.lock'), `${unrelated.pid}\n`);
    await checkNote(t, directory, 'committed data is there');
    t.equal(unrelated.exitCode ?? unrelated.signalCode, null, 'the unrelated process still runs');
  },
);
