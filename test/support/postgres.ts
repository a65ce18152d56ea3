import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import type { Test } from 'tap';
import { untilAccepted } from './database.ts';
import { freePort } from './free-port.ts';
import { run } from './processes.ts';
import { unless } from './requirements.ts';

/** PostgreSQL as Debian installs it, with pg_basebackup, pg_dump and psql, which the embedded server does not have. */

const installed = '/usr/lib/postgresql';
const needed = ['postgres', 'initdb', 'pg_basebackup', 'pg_dump', 'psql'];
const programs = (existsSync(installed) ? readdirSync(installed) : [])
  .sort((a, b) => Number(b) - Number(a))
  .map((version) => join(installed, version, 'bin'))
  .find((folder) => needed.every((name) => existsSync(join(folder, name))));

/** The programs of the newest version, which belong together. */
export const postgresPrograms = {
  folder: programs ?? '',
  skip: unless(programs !== undefined, 'there is no PostgreSQL server with its programs here'),
};

/** What a command begins with, because PostgreSQL does not run as root. */
export const asPostgres =
  process.getuid?.() === 0 ? ['unshare', '--user', '--map-user=65534', '--map-group=65534'] : [];

const superuserPassword = 'b81f0c27d9e64a35';
/** Of the role `dure`: what scripts do with it must allow for a quotation mark. */
export const rolePassword = "c4d7'e0f3a6b9c2d5";

/** Creates a server in a folder as compose.yaml does, with the role of the service, and starts it until the test ends. */
export async function createServer(t: Test, folder: string, settings: string[] = []) {
  const cluster = join(folder, 'cluster');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, superuserPassword);
  const [unshare = '', ...args] = [
    ...[...asPostgres, join(postgresPrograms.folder, 'initdb'), '-D', cluster, '-U', 'postgres', '-N'],
    ...['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8', '--locale=C.UTF-8'],
  ];
  await run(unshare, args);
  const server = await startServer(t, cluster, settings);
  await run('deploy/postgres/create-role.sh', [], {
    env: { ...server.superuser, POSTGRES_USER: 'postgres', DURE_PASSWORD: rolePassword },
  });
  return server;
}

/** Starts a server on its files, until the test ends. */
export async function startServer(t: Test, cluster: string, settings: string[] = [], port?: string) {
  port ??= String(await freePort());
  const [command = '', ...args] = [
    ...[...asPostgres, join(postgresPrograms.folder, 'postgres'), '-D', cluster, '-p', port],
    ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', ...settings].flatMap(
      (setting) => ['-c', setting],
    ),
  ];
  const child = spawn(command, args, { stdio: 'ignore' });
  /** `SIGQUIT` ends it as a crash does. */
  async function stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  t.teardown(() => stop());
  /** Environment of the scripts: the programs, and the connection of the superuser. */
  const superuser = {
    PATH: `${postgresPrograms.folder}:${process.env['PATH']}`,
    PGHOST: '127.0.0.1',
    PGPORT: port,
    PGUSER: 'postgres',
    PGPASSWORD: superuserPassword,
  };
  /** The database `postgres` as the superuser. */
  const superuserUrl = `postgresql://postgres:${superuserPassword}@127.0.0.1:${port}/postgres`;
  await untilAccepted(superuserUrl);
  /** Database and role of the service. */
  const url = `postgresql://dure:${rolePassword}@127.0.0.1:${port}/dure`;
  return { superuser, superuserUrl, url, stop };
}
