import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterPath, startEmbeddedServer } from '../src/development/embedded-postgres/server.ts';
import { migrate } from '../src/infrastructure/database/migrations.ts';
import { production, startService } from '../test/support/service.ts';
import { createData } from './data.ts';

/** A server under load. */
export interface Server {
  url: string;
  pid: number;
  databaseUrl: string;
  end(): Promise<unknown>;
}

/** PostgreSQL with a filled database. What was started on it ends with it. */
export interface Environment {
  url: string;
  /** The process id of PostgreSQL, the parent of all its processes. */
  postmaster: number;
  start(environment?: Record<string, string>): Promise<Server>;
  /** Starts the hand-written server on another database. */
  startBaseline(databaseUrl: string): Promise<Server>;
}

interface Options {
  /** Fills the migrated database: by default with the data of the workloads. */
  fill?: (url: string) => Promise<void>;
  /** Stays afterwards, with the database; by default a throw-away one. */
  folder?: string | undefined;
}

/** Runs work on a PostgreSQL of its own with its default settings, and with a stand-in for Resend. */
export async function withDatabase(
  work: (environment: Environment) => Promise<void>,
  { fill = createData, folder: kept }: Options = {},
): Promise<void> {
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'dure-bench-')));
  const postgres = await startEmbeddedServer({ directory: folder });
  const provider = await startProvider();
  const servers: Server[] = [];
  const begin = async (databaseUrl: string, environment: Record<string, string>, script: string[]) => {
    const own = { ...production, DATABASE_URL: databaseUrl, DATA_DIR: folder, RESEND_BASE_URL: provider.url };
    const { url, child, end } = await startService({ ...own, ...environment }, script);
    if (child.pid === undefined) throw new Error('the server has no process');
    // Its output is no longer kept, but still read.
    child.stdout?.removeAllListeners('data').resume();
    const server: Server = { url, pid: child.pid, databaseUrl, end: () => end() };
    servers.push(server);
    return server;
  };
  try {
    await migrate(postgres.url);
    await fill(postgres.url);
    const pidFile = await readFile(join(clusterPath(folder), 'postmaster.pid'), 'latin1');
    await work({
      url: postgres.url,
      postmaster: Number(pidFile.split('\n')[0]),
      start: (environment) => begin(postgres.url, { ...asInImage, ...environment }, serviceScript),
      startBaseline: (databaseUrl) => begin(databaseUrl, {}, ['build/bench/baseline-server.js']),
    });
  } finally {
    for (const { end } of servers) await end();
    provider.closeAllConnections();
    provider.close();
    await postgres.stop();
    if (kept === undefined) await rm(folder, { recursive: true, force: true });
  }
}

const serviceScript = [
  ...['--max-semi-space-size=8', '--heap-growing-percent=100', '--enable-source-maps', 'dist/server.js'],
];

/** As in production, with the log in a pipe that is read. All the load comes from one address, and from few users. */
const asInImage = {
  ...{ ARGON2_MEMORY_KIB: '19456', LOG_LEVEL: 'info', RATE_LIMIT_ENABLED: 'false' },
  ...{ QUOTA_REQUESTS_PER_DAY: '0', QUOTA_POSTS_PER_DAY: '0', QUOTA_EDITS_PER_DAY: '0' },
  GLIBC_TUNABLES: 'glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1',
  UV_THREADPOOL_SIZE: String(Math.max(4, 2 * availableParallelism())),
};

/** Accepts every email after 100 ms, about as the real one does. */
async function startProvider() {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    setTimeout(() => response.end('{"id":"taken"}'), 100);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(server, { url: `http://127.0.0.1:${port}` });
}
