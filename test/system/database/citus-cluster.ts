import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { migrate } from '../../../src/infrastructure/database/migrations.ts';
import { databaseUrl, execute, stopCron } from '../../support/database.ts';
import { readText, root } from '../../support/files.ts';
import { createServer, postgresPrograms, rolePassword, startServer } from '../../support/postgres.ts';
import { clusterFolder } from '../embedded-postgres/support.ts';

const run = promisify(execFile);

/** Not `unless`: of the jobs of CI, one has the extension. */
export const withoutCitus =
  postgresPrograms.skip ||
  (existsSync(join(postgresPrograms.folder, '../lib/citus.so'))
    ? false
    : 'the newest PostgreSQL here has no Citus: the job citus of .github/workflows/ci.yml has it');

const settings = readText('deploy/citus/citus.conf')
  .split('\n')
  .filter((line) => /^\w/.test(line))
  .map((line) => line.replaceAll(/[ ']/g, ''))
  .concat('citus.enable_stat_counters=on');

interface Worker {
  port: number;
  /** Its server, as the superuser. */
  superuserUrl: string;
  /** As in a crash: it recovers at its next start. */
  crash(): Promise<void>;
  start(): Promise<void>;
}

/** Starts a coordinator and workers, as deploy/citus sets them up, until the test ends. Each database has the first two of them. */
export async function startCitus(t: Test) {
  const folder = await clusterFolder(t);
  const start = async (name: string) => {
    await mkdir(join(folder, name));
    return createServer(t, join(folder, name), settings);
  };
  const coordinator = await start('coordinator');
  const [first, second, third] = [await start('first'), await start('second'), await start('third')];
  const servers = [coordinator, first, second, third];

  function workerIn(name: string, server: typeof first): Worker {
    const port = server.superuser.PGPORT;
    let { stop } = server;
    return {
      port: Number(port),
      superuserUrl: server.superuserUrl,
      crash: () => stop('SIGQUIT'),
      async start() {
        ({ stop } = await startServer(t, join(folder, name, 'cluster'), settings, port));
      },
    };
  }

  async function addWorkers(name: string, workers: (typeof first)[]): Promise<void> {
    const env = { ...coordinator.superuser, PGDATABASE: name, DURE_PASSWORD: rolePassword };
    const places = workers.map(({ superuser: { PGHOST, PGPORT } }) => `${PGHOST}:${PGPORT}`);
    await run(join(root, 'deploy/citus/add-workers.sh'), places, { env });
  }

  /** Creates a database on all servers, migrates it and distributes its tables. @param fill called before that, with its URL */
  async function createDatabase(name: string, fill?: (url: string) => Promise<void>): Promise<string> {
    for (const { superuserUrl } of servers) await execute(superuserUrl, `CREATE DATABASE ${name} OWNER dure`);
    await addWorkers(name, [first, second]);
    const url = databaseUrl(coordinator.url, name);
    await migrate(url);
    await execute(url, stopCron('clean_up'));
    await fill?.(url);
    const file = join(root, 'deploy/citus/distribute.sql');
    await run('psql', ['--no-psqlrc', '--quiet', '--single-transaction', '--file', file, url], {
      env: coordinator.superuser,
    });
    return url;
  }

  return {
    /** The coordinator, as the superuser. */
    superuserUrl: coordinator.superuserUrl,
    workers: [workerIn('first', first), workerIn('second', second)] satisfies [Worker, Worker],
    createDatabase,
    /** Adds the third worker to a database. */
    addThird: (name: string) => addWorkers(name, [third]),
  };
}
