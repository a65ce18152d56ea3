import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { startEmbeddedServer } from '../../../src/development/embedded-postgres/server.ts';
import type { TestApp } from '../../support/app.ts';
import { execute, untilAccepted } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import {
  allEnd,
  clusterFolder,
  postmasterPid,
  processesIn,
  signalAll,
} from '../embedded-postgres/support.ts';

/** The role of the service on the standby: the checks need no rights of their own. */
const reader = 'reader:read-and-nothing-else';

/** Starts a migrated primary with standbys, one or two, until the end of the test. */
export async function startCluster(t: Test, count: 1 | 2 = 1) {
  const primary = await startEmbeddedServer({ directory: await clusterFolder(t, true) });
  t.teardown(primary.stop);
  const [name, password] = reader.split(':');
  await execute(
    primary.url,
    `CREATE ROLE ${name} LOGIN PASSWORD '${password}'`,
    `GRANT pg_read_all_data TO ${name}`,
  );
  const folders = await Promise.all(Array.from({ length: count }, () => clusterFolder(t, true)));
  const [standby, second = standby] = await Promise.all(
    folders.map((folder) => startStandby(folder, primary.url)),
  );
  if (!standby || !second) throw new Error('there are no standbys');
  return { url: primary.url, stop: primary.stop, standby, second };
}

/** Makes a copy of the primary, as it was before its start, its standby. */
async function startStandby(directory: string, primaryUrl: string) {
  const cluster = join(directory, 'cluster');
  await writeFile(join(cluster, 'standby.signal'), '');
  const settings = [`primary_conninfo = '${primaryUrl}'`, 'log_statement = all'];
  await appendFile(join(cluster, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
  const port = await freePort();
  const password = await readFile(join(directory, 'password'), 'utf8');
  const at = (user: string) => `postgresql://${user}@127.0.0.1:${port}/dure?sslmode=disable`;
  const superuser = at(`dure:${password}`);
  let log = '';
  const standby = {
    /** As a role that may read and nothing else. */
    url: at(reader),
    /** The statements that it ran since the last call, but for the checks of the service. */
    async statements(): Promise<string[]> {
      // What ran before it is in the log before it.
      await execute(superuser, "SELECT 'end'");
      await until('the log', () => log.includes("SELECT 'end'"));
      const all = log.split(/^LOG: /m).filter((entry) => /^ (?:execute|statement)/.test(entry));
      log = '';
      return all.filter((entry) => !/pg_control_|SELECT (?:1|'end')$/.test(entry.trim()));
    },
    /** Runs a statement as superuser. */
    execute: (statement: string) => execute(superuser, statement),
    /** How long a commit waits before it is replayed, in milliseconds. */
    async delayReplay(milliseconds: number) {
      await execute(
        superuser,
        `ALTER SYSTEM SET recovery_min_apply_delay = ${milliseconds}`,
        'SELECT pg_reload_conf()',
      );
    },
    async signal(signal: NodeJS.Signals) {
      signalAll([await postmasterPid(directory)], signal);
      signalAll(processesIn(directory, 'postgres'), signal);
    },
    async kill() {
      await standby.signal('SIGKILL');
      await allEnd(directory);
    },
    async start() {
      // It never becomes ready to accept writes, so this does not return.
      const onLog = (line: string) => (log += `${line}\n`);
      void startEmbeddedServer({ directory, port, onLog }).catch(() => undefined);
      await untilAccepted(superuser);
    },
  };
  await standby.start();
  return standby;
}

/** How many reads of an app were answered by the replica, and by the primary and why. */
export async function readsOf(app: TestApp): Promise<Record<string, number>> {
  const { text } = await app.call('GET', '/metrics');
  const lines = text.matchAll(/^replica_reads_total\{source="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, source = '', count]) => [source, Number(count)]));
}

/** What answers a read: the replica, or the primary and why. */
export async function sourceOf(app: TestApp, read: () => Promise<unknown>): Promise<string | undefined> {
  const before = await readsOf(app);
  await read();
  const after = await readsOf(app);
  return Object.keys(after).find((name) => after[name] !== before[name]);
}

/** Waits until an app reads from the replica, or does not. */
export function untilRead(app: TestApp, read: boolean): Promise<unknown> {
  const last = () => app.logs.findLast((line) => line.includes('"msg":"the replica is'));
  return until(
    `the replica is read: ${read}`,
    () => (last()?.includes('"msg":"the replica is read"') ?? false) === read,
  );
}
