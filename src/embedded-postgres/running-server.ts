import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { clusterPath, clusterUrl, databaseName } from './cluster.ts';
import { EmbeddedServerError, startEmbeddedServer } from './server.ts';

/** Milliseconds that the server of another process has to become ready. */
const startTimeout = 10_000;

/**
 * Reaches the database in `directory`: through the server of a process that runs in the folder already, or through one that is
 * started for the caller.
 *
 * @param create whether a database is created where there is none
 * @returns the connection string, and `stop`, which ends the server if it was started here
 * @throws {EmbeddedServerError} when there is no database in the folder, or its server cannot be reached
 */
export async function reachEmbeddedServer(
  directory: string,
  { create = false } = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  if (!create && !existsSync(clusterPath(directory))) {
    throw new EmbeddedServerError(
      `There is no embedded database in ${directory}: set DATABASE_URL, or run the command in the folder of the service, or with its DATA_DIR.`,
    );
  }
  for (const deadline = Date.now() + startTimeout; ; await sleep(200)) {
    const url = await findRunningServer(directory);
    if (url !== undefined) return { url, stop: async () => undefined };
    try {
      return await startEmbeddedServer({ directory });
    } catch (error) {
      // The other instance may be starting its server, or stopping it.
      if (!(error instanceof EmbeddedServerError) || !/already running/.test(error.message)) throw error;
      if (Date.now() < deadline) continue;
      throw new EmbeddedServerError(
        `${error.message} Its database does not answer: stop that process, or wait until it has started.`,
      );
    }
  }
}

/** The connection string of the server that runs in the folder, which PostgreSQL describes in `postmaster.pid`. */
async function findRunningServer(directory: string): Promise<string | undefined> {
  const read = (path: string) => readFile(path, 'utf8').catch(() => '');
  const [, , , port = ''] = (await read(join(clusterPath(directory), 'postmaster.pid'))).split('\n');
  const password = await read(join(directory, 'password'));
  if (!/^\d+$/.test(port) || password === '') return undefined;
  const url = clusterUrl({ port: Number(port), password }, databaseName);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return url;
  } catch {
    // The file is that of a killed server, or the server is not ready.
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}
