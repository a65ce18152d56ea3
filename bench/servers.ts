import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedServer } from '../src/development/embedded-postgres/server.ts';
import { migrate } from '../src/infrastructure/database/migrations.ts';
import { databaseUrl, execute } from '../test/support/database.ts';
import { production, type Service, startService } from '../test/support/service.ts';
import { type BenchUser, createData, readUsers } from './data.ts';
import { postmasterOf } from './processes.ts';

/** Connections of each server to the database: the default of the service. */
const poolSize = 10;

/** A server under load. */
export interface MeasuredServer {
  url: string;
  pid: number;
  databaseUrl: string;
  end(): Promise<unknown>;
}

/** A throw-away PostgreSQL with the data of the workloads, and a stand-in for Resend. */
export async function startDatabase() {
  const directory = await mkdtemp(join(tmpdir(), 'dure-bench-'));
  const postgres = await startEmbeddedServer({ directory });
  const provider = await startProvider();
  async function stop(): Promise<void> {
    provider.close();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
  try {
    await migrate(postgres.url);
    await createData(postgres.url);
    const postmaster = await postmasterOf(directory);
    return { url: postgres.url, directory, postmaster, mailUrl: provider.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Milliseconds in which the stand-in for Resend responds, about as the real one does. */
const mailLatency = 100;

/** Accepts every email. */
async function startProvider() {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    setTimeout(() => response.end('{"id":"taken"}'), mailLatency);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Copies a database. No connection may be open to it. @returns the URL of the copy */
export async function copyDatabase(url: string, name: string): Promise<string> {
  const source = new URL(url).pathname.slice(1);
  await execute(databaseUrl(url, 'postgres'), `CREATE DATABASE ${name} TEMPLATE ${source}`);
  return databaseUrl(url, name);
}

/** Starts the service as in production: with its worker and its log, which goes to a pipe that is read and thrown away. */
export async function startMeasuredService(
  database: string,
  mailUrl: string,
  environment: Record<string, string> = {},
): Promise<MeasuredServer> {
  const service = await startService(
    {
      ...production,
      ARGON2_MEMORY_KIB: '19456',
      DATABASE_URL: database,
      DATABASE_POOL_SIZE: String(poolSize),
      LOG_LEVEL: 'info',
      RESEND_BASE_URL: mailUrl,
      // All the load comes from one address, and from few stores.
      RATE_LIMIT_ENABLED: 'false',
      QUOTA_REQUESTS_PER_DAY: '0',
      GLIBC_TUNABLES: 'glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1',
      UV_THREADPOOL_SIZE: String(Math.max(4, 2 * availableParallelism())),
      ...environment,
    },
    ['--max-semi-space-size=8', '--heap-growing-percent=100', '--enable-source-maps', 'dist/server.js'],
  );
  return toMeasured(service, database);
}

/** Runs work on the service without its worker, with a database that is filled. Both are gone afterwards. */
export async function withService(
  environment: Record<string, string>,
  work: (server: MeasuredServer, users: BenchUser[]) => Promise<void>,
): Promise<void> {
  const { url, directory, mailUrl, stop } = await startDatabase();
  try {
    const users = await readUsers(url);
    const own = { DATA_DIR: directory, WORKER_ENABLED: 'false', ...environment };
    const server = await startMeasuredService(url, mailUrl, own);
    await work(server, users).finally(server.end);
  } finally {
    await stop();
  }
}

/** Starts the server that does the least that the same responses need. */
export async function startBaselineServer(database: string): Promise<MeasuredServer> {
  const { NODE_ENV, JWT_SECRET } = production;
  const environment = { NODE_ENV, JWT_SECRET, DATABASE_URL: database, DATABASE_POOL_SIZE: String(poolSize) };
  return toMeasured(await startService(environment, ['build/bench/baseline-server.js']), database);
}

function toMeasured({ url, child, end }: Service, database: string): MeasuredServer {
  if (child.pid === undefined) throw new Error('the server has no process');
  // Its output is no longer kept, but still read.
  child.stdout?.removeAllListeners('data').resume();
  return { url, pid: child.pid, databaseUrl: database, end: () => end() };
}
