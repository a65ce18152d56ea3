import { Redis } from 'ioredis';
import type pg from 'pg';
import type { Config } from '../infrastructure/config/config.ts';
import { checkServer } from '../infrastructure/database/connection.ts';
import { reasonOf } from '../infrastructure/database/errors.ts';
import { pendingMigrations } from '../infrastructure/database/migrations.ts';
import { toCommandError, withSession } from './connection.ts';

/* What `dure config check --connect` adds; apart, because it loads the clients of the servers. */

/** The oldest version of PostgreSQL that is supported, as `server_version_num`. */
const oldestVersion = 140_000;

/** Connections of an instance beside its pool: those of the worker and of the listener. */
const otherConnections = 6;

/** Tries the database, with and without its pooler, the replica and Redis, with reads only. @returns what it finds */
export async function tryConnections({ database, redisUrl }: Config) {
  const { url, directUrl, replica } = database;
  const notes: string[] = [];
  const problems = await problemsOf(async () => {
    if (directUrl === undefined) return [];
    await checkServer(directUrl);
    const found = await withSession({ directUrl }, (client) => inspectServer(client, database));
    notes.push(found.note);
    return found.problems;
  });
  const connect = (url: string) => problemsOf(() => withSession({ directUrl: url }, async () => []));
  if (url !== undefined && url !== directUrl) problems.push(...(await connect(url)));
  const ofReplica = replica === undefined ? [] : await connect(replica.url);
  // Without the replica and Redis the service works, so these are no problems that stop a start.
  const warnings = ofReplica.map((problem) => `The replica is not read: ${problem}`);
  if (redisUrl !== undefined) warnings.push(...(await tryRedis(redisUrl)));
  return { problems, warnings, notes };
}

/** @returns what the work finds, or why it failed */
async function problemsOf(work: () => Promise<string[]>): Promise<string[]> {
  try {
    return await work();
  } catch (error) {
    return [toCommandError(error).message];
  }
}

async function inspectServer(client: pg.Client, { pooled, poolSize }: Config['database']) {
  const { rows } = await client.query<{ version: number; text: string; connections: number }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS text,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections`,
  );
  const { version = 0, text = '', connections = 0 } = rows[0] ?? {};
  const problems: string[] = [];
  if (version < oldestVersion) problems.push(`PostgreSQL ${text} is too old: 14 or newer is needed`);
  const { length: pending } = await pendingMigrations(client);
  if (pending > 0)
    problems.push(`migrations of this release that the database lacks: ${pending}; run \`dure migrate up\``);
  const instances = Math.floor(connections / (poolSize + otherConnections));
  const enough = pooled
    ? `those of the pooler and ${otherConnections} of each instance`
    : `enough for ${instances} instances with DATABASE_POOL_SIZE ${poolSize}`;
  const note = `PostgreSQL ${text} takes ${connections} connections${pooled ? ',' : ':'} ${enough}`;
  return { problems, note };
}

/** @returns a warning where it does not answer */
async function tryRedis(url: string): Promise<string[]> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 3_000,
    commandTimeout: 3_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason = '';
  redis.on('error', (error: Error) => (reason ||= reasonOf(error)));
  try {
    await redis.ping();
    return [];
  } catch (error) {
    const { hostname, port } = new URL(url);
    return [
      `Redis at ${hostname}:${port || '6379'} cannot be reached, so each instance counts limits by itself: ${reason || reasonOf(error)}`,
    ];
  } finally {
    redis.disconnect();
  }
}
