import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { openSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { parseEnv } from 'node:util';
import type { Test } from 'tap';
import { untilAccepted } from '../../support/database.ts';
import { root } from '../../support/files.ts';
import type { Json } from '../../support/json.ts';
import { asPostgres, postgresPrograms } from '../../support/postgres.ts';
import { run } from '../../support/processes.ts';
import { without } from '../../support/requirements.ts';
import { atMost } from '../../support/time.ts';
import { until } from '../../support/until.ts';
import { signalAll, temporaryFolder } from '../../system/embedded-postgres/support.ts';

const patroniFile = join(root, 'deploy/patroni/patroni.yml');

interface Member {
  name: string;
  role: 'leader' | 'sync_standby' | 'replica';
  state: string;
  timeline?: number;
}

/** For `skip`. */
export const cannotRun =
  postgresPrograms.skip || ['patroni', 'etcd', 'haproxy', 'pgbouncer'].map(without).find(Boolean) || false;

const password = 'f0c27d9e64a35b81';
const passwords = {
  PATRONI_SUPERUSER_PASSWORD: password,
  PATRONI_REPLICATION_PASSWORD: password,
  PATRONI_RESTAPI_PASSWORD: password,
};

/**
 * Starts three nodes with PostgreSQL, Patroni and etcd, and HAProxy and PgBouncer in front of them, with the files of deploy/, until
 * the test ends.
 */
export async function startCluster(t: Test) {
  const folder = await temporaryFolder(t);
  // PgBouncer reads its files as another user.
  await chmod(folder, 0o755);
  const common = { PATH: process.env['PATH'], LANG: 'C.UTF-8' };
  // Each machine has a loopback address of its own, so that the ports are those of the files.
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  /** As deploy/ has them. */
  const names = ['postgres-1', 'postgres-2', 'postgres-3'];
  const addressOf = (name: string) => name.replace('postgres-', `${network}.`);
  const [haproxy, pgbouncer] = [`${network}.11`, `${network}.12`];
  const processes = new Map<string, ChildProcess[]>();

  /** A file of deploy/ with the addresses of the drill. */
  async function deployed(path: string, listenAddress: string): Promise<string> {
    const text = await readFile(join(root, 'deploy', path), 'utf8');
    return text.replaceAll(/postgres-\d/g, addressOf).replaceAll(/0\.0\.0\.0|\*(?=:)/g, listenAddress);
  }

  /** The environment of a program on a node. The file is that of the first one. */
  async function environmentOf(path: string, name: string): Promise<NodeJS.ProcessEnv> {
    const [first, own] = [addressOf('postgres-1'), addressOf(name)];
    const lines = (await deployed(path, own)).split('\n');
    const isList = (line: string) => line.includes(addressOf('postgres-2'));
    return parseEnv(lines.map((line) => (isList(line) ? line : line.replaceAll(first, own))).join('\n'));
  }

  function start(command: string[], environment: NodeJS.ProcessEnv = {}): ChildProcess {
    const [program = '', ...args] = command;
    const log = openSync(join(folder, 'log'), 'a');
    const env = { ...common, ...environment };
    return spawn(program, args, { cwd: folder, env, stdio: ['ignore', log, log] });
  }

  /** Starts what runs on a machine. */
  async function startNode(name: string): Promise<void> {
    processes.set(name, [
      start(['etcd', '--log-level', 'error'], {
        ...(await environmentOf('patroni/etcd.env', name)),
        ETCD_DATA_DIR: join(folder, `${name}-etcd`),
      }),
      start([...asPostgres, 'patroni', patroniFile], {
        ...(await environmentOf('patroni/patroni.env', name)),
        ...passwords,
        PATRONI_POSTGRESQL_BIN_DIR: postgresPrograms.folder,
        PATRONI_POSTGRESQL_DATA_DIR: join(folder, name),
        PATRONI_POSTGRESQL_PGPASS: join(folder, `${name}-pgpass`),
      }),
    ]);
  }

  const askPatroni = (name: string, path: string) =>
    fetch(`http://${addressOf(name)}:8008/${path}`, { signal: AbortSignal.timeout(atMost(1_000)) });

  async function members(): Promise<Member[]> {
    const ask = async (name: string) => (await (await askPatroni(name, 'cluster')).json()) as Json;
    const { members = [] } = await Promise.any(names.map(ask)).catch(() => ({}));
    return members;
  }

  const isPrimary = (name: string) =>
    askPatroni(name, 'primary').then(
      ({ ok }) => ok,
      () => false,
    );

  /** Waits until a failover would lose nothing, and returns the primary. */
  const whole = () =>
    until('a cluster of three nodes', async () => {
      const found = await members();
      const count = (role: string) => found.filter((member) => member.role === role).length;
      const isWhole =
        found.length === 3 &&
        found.every(({ state }) => state === 'running' || state === 'streaming') &&
        new Set(found.map(({ timeline }) => timeline)).size === 1 &&
        count('leader') === 1 &&
        count('sync_standby') === 1;
      const leader = found.find(({ role }) => role === 'leader');
      return isWhole ? names.find((name) => addressOf(name) === leader?.name) : undefined;
    });

  async function startPooler(): Promise<void> {
    const users = join(folder, 'users.txt');
    await writeFile(users, `"dure" "${password}"\n`);
    const ini = (await readFile(join(root, 'deploy/pgbouncer/pgbouncer.ini'), 'utf8'))
      .replace('host=postgres port=5432', `host=${haproxy} port=5000`)
      .replace('listen_addr = *', `listen_addr = ${pgbouncer}`)
      .replace('/run/pgbouncer/users.txt', users);
    await writeFile(join(folder, 'pgbouncer.ini'), ini);
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    start(['pgbouncer', ...user, join(folder, 'pgbouncer.ini')]);
  }

  for (const name of names) await startNode(name);
  await writeFile(join(folder, 'haproxy.cfg'), await deployed('haproxy/haproxy.cfg', haproxy));
  start(['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')]);
  await startPooler();
  await whole();
  const superuser = `postgresql://postgres:${password}@${haproxy}:5000/postgres`;
  await untilAccepted(superuser);
  await run('deploy/postgres/create-role.sh', [], {
    env: {
      ...{ ...common, PGHOST: haproxy, PGPORT: '5000', PGPASSWORD: password },
      ...{ POSTGRES_USER: 'postgres', DURE_PASSWORD: password },
    },
  });

  return {
    directUrl: `postgresql://dure:${password}@${haproxy}:5000/dure`,
    pooledUrl: `postgresql://dure:${password}@${pgbouncer}:6432/dure`,
    whole,
    /** Waits for another primary than this one. @returns its name */
    primaryAfter: (old: string) =>
      until('a new primary', async () => {
        const others = names.filter((name) => name !== old);
        const are = await Promise.all(others.map(isPrimary));
        return others.find((_name, index) => are[index]);
      }),
    /** Kills PostgreSQL of a node, or everything on it, with SIGKILL. */
    async kill(name: string, what: 'PostgreSQL killed' | 'machine killed'): Promise<void> {
      const postmaster = Number.parseInt(await readFile(join(folder, name, 'postmaster.pid'), 'utf8'), 10);
      if (what === 'machine killed') for (const child of processes.get(name) ?? []) child.kill('SIGKILL');
      signalAll([postmaster], 'SIGKILL');
    },
    startNode,
    /** A planned switchover, as an operator does it. */
    async switchover(name: string): Promise<void> {
      const env = { ...common, ...(await environmentOf('patroni/patroni.env', name)), ...passwords };
      const command = ['switchover', 'dure', '--leader', addressOf(name), '--force'];
      await run('patronictl', ['-c', patroniFile, ...command], { env });
    },
  };
}
