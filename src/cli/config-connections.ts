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

type Findings = Record<'problems' | 'warnings' | 'notes', string[]>;

/** Tries the database, the replica and Redis, with reads only, and adds what it finds. */
export async function tryConnections(config: Config, findings: Findings): Promise<void> {
  const { url, directUrl } = config.database;
  for (const one of new Set([url, directUrl])) {
    if (one === undefined) continue;
    const isDirect = one === directUrl;
    try {
      if (isDirect) await checkServer(one);
      await withSession({ directUrl: one }, async (client) => {
        if (isDirect) await inspectServer(client, config, findings);
      });
    } catch (error) {
      findings.problems.push(toCommandError(error).message);
    }
  }
  const { replica } = config.database;
  if (replica !== undefined) {
    const attempt = withSession({ directUrl: replica.url }, async () => undefined);
    await attempt.catch((error: unknown) =>
      findings.warnings.push(`The replica is not read: ${toCommandError(error).message}`),
    );
  }
  if (config.redisUrl !== undefined) await tryRedis(config.redisUrl, findings);
}

async function inspectServer(
  client: pg.Client,
  { database }: Config,
  { problems, notes }: Findings,
): Promise<void> {
  const { rows } = await client.query<{ version: number; text: string; connections: number }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS text,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections`,
  );
  const { version = 0, text = '', connections = 0 } = rows[0] ?? {};
  if (version < oldestVersion) problems.push(`PostgreSQL ${text} is too old: 14 or newer is needed`);
  const pending = await pendingMigrations(client);
  if (pending.length > 0) {
    problems.push(
      `migrations of this release that the database lacks: ${pending.length}; run \`dure migrate up\``,
    );
  }
  const instances = Math.floor(connections / (database.poolSize + otherConnections));
  notes.push(
    database.pooled
      ? `PostgreSQL ${text} takes ${connections} connections, those of the pooler and ${otherConnections} of each instance`
      : `PostgreSQL ${text} takes ${connections} connections: enough for ${instances} instances with DATABASE_POOL_SIZE ${database.poolSize}`,
  );
}

/** Without Redis the service works, so this is no problem that stops a start. */
async function tryRedis(url: string, { warnings }: Findings): Promise<void> {
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
  } catch (error) {
    const { hostname, port } = new URL(url);
    warnings.push(
      `Redis at ${hostname}:${port || '6379'} cannot be reached, so each instance counts limits by itself: ${reason || reasonOf(error)}`,
    );
  } finally {
    redis.disconnect();
  }
}
