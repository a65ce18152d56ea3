import { spawn } from 'node:child_process';
import { chown, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import {
  allGone,
  checkNote,
  ORDINARY_USER,
  onlyWithOrdinaryUser,
  postmasterPid,
  processesIn,
  query,
  runsAs,
  signalAll,
  startElsewhere,
  temporaryFolder,
  writeNote,
} from './support.ts';

// Run without tap's own runner the limit would be 30 seconds.
t.setTimeout(120_000);
t.jobs = 4;

t.test('the embedded server', async (t) => {
  const directory = join(await temporaryFolder(t), 'not', 'there yet');
  const lines: string[] = [];
  const server = await startEmbeddedServer({ directory, onLog: (line) => lines.push(line) });
  t.teardown(() => server.stop());
  t.match(lines.join('\n'), /ready to accept connections$/);

  await t.test('serves a UTF-8 database with the letters of every script, checksums and UTC', async (t) => {
    const settings = [
      'server_encoding',
      'data_checksums',
      'timezone',
      'max_connections',
      'synchronous_commit',
      'fsync',
    ];
    const values = await query(
      server.url,
      `SELECT ${settings.map((name) => `current_setting('${name}')`).join()}`,
    );
    t.same(values, ['UTF8', 'on', 'UTC', '200', 'on', 'on']);
    t.same(await query(server.url, 'SELECT current_database()'), ['dure']);
    t.same(await query(server.url, "SELECT 'CAFÉ ÑANDÚ' ILIKE 'café ñandú', 'É' = 'é'"), [true, false]);
  });

  await t.test('is reachable on the loopback interface only, and not without the password', async (t) => {
    const where = "SELECT current_setting('listen_addresses'), current_setting('unix_socket_directories')";
    t.same(await query(server.url, where), ['127.0.0.1', '']);
    t.same(await query(server.url, 'SELECT DISTINCT auth_method FROM pg_hba_file_rules'), ['scram-sha-256']);
    const guess = new URL(server.url);
    guess.password = 'guess';
    await t.rejects(query(guess.href, 'SELECT 1'), { code: '28P01' });
  });

  await t.test('keeps the password in a file that only its owner reads', async (t) => {
    const path = join(directory, 'password');
    t.equal((await stat(path)).mode & 0o777, 0o600);
    t.equal(await readFile(path, 'utf8'), new URL(server.url).password);
    t.match(new URL(server.url).password, /^\w{32,}$/);
  });

  await t.test('keeps its data over a restart', async (t) => {
    await writeNote(server.url);
    await server.stop();
    await server.stop();
    t.same(await processesIn(directory, 'postgres'), [], 'stop waits for the end');
    await checkNote(t, directory, 'the data is there');
  });
});

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGHUP'] as const) {
  t.test(`a service that ends by ${signal} leaves no damage for a start right afterwards`, async (t) => {
    const directory = await temporaryFolder(t);
    const starter = startElsewhere(t, directory);
    await writeNote(await starter.says());
    await starter.kill(signal);
    await checkNote(t, directory, 'the data is there');
  });
}

t.test('a server that ends by itself is started again where it was', async (t) => {
  const directory = await temporaryFolder(t);
  const lines: string[] = [];
  const server = await startEmbeddedServer({ directory, onLog: (line) => lines.push(line) });
  t.teardown(() => server.stop());
  await writeNote(server.url);
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const pid = await postmasterPid(directory);
    process.kill(pid, signal);
    for (const end = Date.now() + 30_000; Date.now() < end; await delay(100)) {
      const now = await postmasterPid(directory).catch(() => pid);
      if (now !== pid && (await query(server.url, 'SELECT 1').catch(() => [])).length === 1) break;
    }
    t.same(await query(server.url, 'SELECT text FROM note'), ['kept'], `after ${signal}`);
    t.match(lines.join('\n'), `PostgreSQL has ended (${signal === 'SIGKILL' ? signal : 'exit code 0'})`);
  }
  await server.stop();
  t.same(await processesIn(directory, 'postgres'), []);
});

t.test('a server that has ended by itself can be stopped before it starts again', async (t) => {
  const directory = await temporaryFolder(t);
  const server = await startEmbeddedServer({ directory });
  process.kill(await postmasterPid(directory), 'SIGQUIT');
  await server.stop();
  await delay(1_500);
  t.same(await processesIn(directory, 'postgres'), []);
});

t.test('a service that is killed leaves no process', async (t) => {
  const directory = await temporaryFolder(t);
  const starter = startElsewhere(t, directory);
  await starter.says();
  t.ok((await processesIn(directory)).length > 3);
  await starter.kill('SIGKILL');
  t.ok(await allGone(directory));
});

t.test('after a kill of everything a start recovers, whoever has the old process id now', async (t) => {
  const directory = await temporaryFolder(t);
  const starter = startElsewhere(t, directory);
  await writeNote(await starter.says());
  const pid = await postmasterPid(directory);
  const victims = await processesIn(directory);
  starter.child.kill('SIGKILL');
  signalAll(victims, 'SIGKILL');
  t.ok(await allGone(directory));

  const stranger = spawn('sleep', ['60']);
  t.teardown(() => stranger.kill('SIGKILL'));
  const pidFile = join(directory, 'cluster/postmaster.pid');
  await writeFile(pidFile, (await readFile(pidFile, 'utf8')).replace(`${pid}`, `${stranger.pid}`));
  await checkNote(t, directory, 'what was committed is there');
  t.equal(stranger.exitCode ?? stranger.signalCode, null, 'the stranger lives on');
});

t.test('a server whose watchdog was killed too is shut down by the next start', async (t) => {
  const directory = await temporaryFolder(t);
  const starter = startElsewhere(t, directory);
  await writeNote(await starter.says());
  signalAll(await processesIn(directory, 'sh'), 'SIGKILL');
  await starter.kill('SIGKILL');
  await delay(500);
  t.ok((await processesIn(directory)).length > 0, 'the server has lost its watchdog');
  await checkNote(t, directory, 'the data is there');
});

t.test('Ctrl-C in a terminal leaves PostgreSQL to the service, until that has finished', async (t) => {
  const directory = await temporaryFolder(t);
  const starter = startElsewhere(t, directory, { detached: true });
  const url = await starter.says();
  process.kill(-(starter.child.pid ?? Number.NaN), 'SIGINT');
  t.equal(await starter.says(), 'interrupted');
  await delay(300);
  t.same(await query(url, 'SELECT 1'), [1], 'PostgreSQL still serves');
  await starter.stop();
  t.ok(await allGone(directory));
});

t.test('a second start in the same folder is refused at once, and the first goes on', async (t) => {
  const directory = await temporaryFolder(t);
  const starter = startElsewhere(t, directory);
  const url = await starter.says();
  const begin = Date.now();
  await t.rejects(startEmbeddedServer({ directory }), {
    name: 'EmbeddedServerError',
    message: `Another instance is already running in this folder (${directory}, process ${starter.child.pid}).`,
  });
  t.ok(Date.now() - begin < 10_000, 'without waiting for the first to end');
  t.same(await query(url, 'SELECT 1'), [1]);
  await starter.stop();
});

t.test('of several starts at the same time one succeeds', async (t) => {
  const directory = await temporaryFolder(t);
  const starts = await Promise.allSettled([1, 2, 3, 4].map(() => startEmbeddedServer({ directory })));
  const servers = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  await Promise.all(servers.map((server) => server.stop()));
  t.equal(servers.length, 1);
});

/** Kills a first start while it creates the database. @returns its folder */
async function killHalfWay(t: Test): Promise<string> {
  for (let attempt = 1; attempt <= 10; attempt++) {
    const directory = await temporaryFolder(t);
    const starter = startElsewhere(t, directory);
    while (!(await exists(join(directory, 'initializing/PG_VERSION')))) await delay(2);
    // Held, so that it cannot finish by itself; on a busy machine it may have finished before.
    signalAll(await processesIn(directory, 'initdb'), 'SIGSTOP');
    const isHalfWay = !(await exists(join(directory, 'cluster')));
    await starter.kill('SIGKILL');
    if (isHalfWay) return directory;
  }
  throw new Error('the first start is always finished before it can be held');
}

t.test('a first start that was killed half-way is made good by the next', async (t) => {
  const directory = await killHalfWay(t);
  const server = await startEmbeddedServer({ directory });
  t.same(await query(server.url, 'SELECT 1'), [1]);
  await server.stop();
  t.same(await readdir(directory), ['cluster', 'instance.lock', 'password', 'server.lock']);
});

t.test('a folder that only its owner may enter, with spaces and letters of any script', async (t) => {
  const closed = join(await temporaryFolder(t), "두레 이웃's");
  await mkdir(closed, { mode: 0o700 });
  const directory = join(closed, 'é data');
  const server = await startEmbeddedServer({ directory });
  await writeNote(server.url);
  await server.stop();
  await checkNote(t, directory, 'the data is there');
});

t.test('an ordinary user', onlyWithOrdinaryUser, async (t) => {
  const directory = await temporaryFolder(t);
  await chown(directory, ORDINARY_USER.uid, ORDINARY_USER.gid);
  const starter = startElsewhere(t, directory, ORDINARY_USER);
  await writeNote(await starter.says());
  t.ok(await runsAs(directory, ORDINARY_USER.uid));
  await starter.stop();
  t.ok(await allGone(directory));

  await t.test('keeps the database when root starts it once', async (t) => {
    await checkNote(t, directory, 'root has the data');
    const again = startElsewhere(t, directory, ORDINARY_USER);
    t.same(await query(await again.says(), 'SELECT text FROM note'), ['kept']);
    await again.stop();
  });

  await t.test("is told when the folder is another user's", async (t) => {
    const closed = await temporaryFolder(t);
    const refused = startElsewhere(t, closed, ORDINARY_USER);
    t.match(
      await refused.says(),
      `EmbeddedServerError: The embedded database in ${closed} cannot be used: EACCES`,
    );
  });
});

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
