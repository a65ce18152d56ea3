import { chown, mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import {
  type EmbeddedServerError,
  startEmbeddedServer,
} from '../../../src/development/embedded-postgres/server.ts';
import {
  allEnd,
  checkNote,
  onlyWithOrdinaryUser,
  ordinaryUser,
  postmasterPid,
  processesIn,
  query,
  serverUser,
  startProcess,
  temporaryFolder,
  writeNote,
} from './support.ts';

t.setTimeout(120_000);
t.jobs = 4;

t.test('the embedded server', async (t) => {
  const directory = join(await temporaryFolder(t), 'not', 'there yet');
  const lines: string[] = [];
  const server = await startEmbeddedServer({ directory, onLog: (line) => lines.push(line) });
  t.teardown(() => server.stop());
  t.match(lines.join('\n'), /ready to accept connections$/);

  await t.test('has a UTF-8 database with the letters of every script, checksums and UTC', async (t) => {
    const settings = ['server_encoding', 'data_checksums', 'timezone', 'synchronous_commit', 'fsync'];
    const selected = settings.map((name) => `current_setting('${name}')`).join();
    t.same(await query(server.url, `SELECT ${selected}`), ['UTF8', 'on', 'UTC', 'on', 'on']);
    t.same(await query(server.url, 'SELECT current_database()'), ['dure']);
    t.same(await query(server.url, "SELECT 'CAFÉ ÑANDÚ' ILIKE 'café ñandú', 'É' = 'é'"), [true, false]);
  });

  await t.test('listens on the loopback interface only and requires the password', async (t) => {
    const addresses =
      "SELECT current_setting('listen_addresses'), current_setting('unix_socket_directories')";
    t.same(await query(server.url, addresses), ['127.0.0.1', '']);
    t.same(await query(server.url, 'SELECT DISTINCT auth_method FROM pg_hba_file_rules'), ['scram-sha-256']);
    const guess = new URL(server.url);
    guess.password = 'guess';
    await t.rejects(query(guess.href, 'SELECT 1'), { code: '28P01' });
  });

  await t.test('stores the password in a file that only its owner can read', async (t) => {
    const path = join(directory, 'password');
    t.equal((await stat(path)).mode & 0o777, 0o600);
    t.equal(await readFile(path, 'utf8'), new URL(server.url).password);
    t.match(new URL(server.url).password, /^\w{32,}$/);
  });

  await t.test('keeps its data over a restart', async (t) => {
    await writeNote(server.url);
    await server.stop();
    await server.stop();
    t.same(await processesIn(directory, 'postgres'), [], 'stop waits until all processes have ended');
    await checkNote(t, directory, 'the data is there');
  });
});

t.test('when PostgreSQL ends by itself, the caller gets its last output and can start again', async (t) => {
  const directory = await temporaryFolder(t);
  const { error, server } = await new Promise<{
    error: EmbeddedServerError;
    server: Awaited<ReturnType<typeof startEmbeddedServer>>;
  }>((resolve, reject) => {
    const started = startEmbeddedServer({
      directory,
      onExit: async (error) => resolve({ error, server: await started }),
    });
    started
      .then(async ({ url }) => {
        await writeNote(url);
        process.kill(await postmasterPid(directory), 'SIGQUIT');
      })
      .catch(reject);
  });
  t.equal(error.name, 'EmbeddedServerError');
  t.match(error.message, `PostgreSQL in ${directory} ended unexpectedly: `);
  t.match(error.message, /received immediate shutdown request; .*exit code 0$/);
  await server.stop();
  await checkNote(t, directory, 'the data is there');
});

t.test('a second start in the same folder is refused at once, and the first keeps working', async (t) => {
  const directory = await temporaryFolder(t);
  const first = startProcess(t, directory);
  const url = await first.nextLine();
  const started = Date.now();
  await t.rejects(startEmbeddedServer({ directory }), {
    name: 'EmbeddedServerError',
    message: `Another instance is already running in this folder (${directory}, process ${first.child.pid}).`,
  });
  t.ok(Date.now() - started < 5_000);
  t.same(await query(url, 'SELECT 1'), [1]);
  await first.stop();
});

t.test('of several concurrent starts one succeeds', async (t) => {
  const directory = await temporaryFolder(t);
  const starts = await Promise.allSettled([1, 2, 3, 4].map(() => startEmbeddedServer({ directory })));
  const servers = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  await Promise.all(servers.map((server) => server.stop()));
  t.equal(servers.length, 1);
});

t.test('Ctrl-C in a terminal does not reach PostgreSQL before the service has shut down', async (t) => {
  const directory = await temporaryFolder(t);
  const starter = startProcess(t, directory, { detached: true });
  const url = await starter.nextLine();
  process.kill(-(starter.child.pid ?? Number.NaN), 'SIGINT');
  t.equal(await starter.nextLine(), 'SIGINT');
  await sleep(300);
  t.same(await query(url, 'SELECT 1'), [1]);
  await starter.stop();
  t.ok(await allEnd(directory));
});

t.test('a folder that only its owner can enter, with spaces and letters of any script', async (t) => {
  const closed = join(await temporaryFolder(t), "두레 이웃's");
  await mkdir(closed, { mode: 0o700 });
  const directory = join(closed, 'é data');
  const server = await startEmbeddedServer({ directory });
  await writeNote(server.url);
  await server.stop();
  await checkNote(t, directory, 'the data is there');
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
    t.same(await query(await again.nextLine(), 'SELECT text FROM note'), ['kept']);
    await again.stop();
  });

  await t.test('gets the reason when the folder belongs to root', async (t) => {
    const foreign = await temporaryFolder(t);
    const refused = startProcess(t, foreign, ordinaryUser);
    t.match(await refused.nextLine(), `Error: EACCES: permission denied, open '${foreign}/server.lock'`);
  });

  await t.test('lets root create a database in a folder that only this user can enter', async (t) => {
    const folder = join(closed, 'of root');
    const server = await startEmbeddedServer({ directory: folder });
    await writeNote(server.url);
    await server.stop();
    await checkNote(t, folder, 'the data is there');
  });
});
