import { join, resolve } from 'node:path';
import { ConfigError, oneOf, parseUrl, readUrl, readVariables, url, variable } from './readers.ts';

/** Where the database is. */
export interface DatabaseLocation {
  url: string;
  /** Without a transaction pooler. */
  directUrl: string;
  /** Whether `url` goes through a transaction pooler. */
  pooled: boolean;
}

const postgres = { protocols: ['postgres:', 'postgresql:'] };

/** The variables that commands need which only use the database, so that the others may be missing or wrong. */
export const databaseVariables = {
  // A misspelt `production` must not run without the checks of production.
  environment: oneOf('NODE_ENV', 'development', ['development', 'test', 'production']),
  dataDirectory: variable('DATA_DIR', '.data', (path) => resolve(path)),
  urls: { pooled: url('DATABASE_URL', postgres), direct: url('DATABASE_DIRECT_URL', postgres) },
};

/** The standby that may answer reads of posts and stores. A transaction pooler in front of it is marked as for Prisma. */
export function readReplica(text: string) {
  const pooled = parseUrl(text)?.searchParams.get('pgbouncer') === 'true';
  return { url: readUrl(text, postgres), pooled };
}

/** The database of the variables: one of the two is enough, and without both it is the embedded one. */
export function toDatabase({ pooled, direct }: { pooled: string | undefined; direct: string | undefined }) {
  return {
    url: pooled ?? direct,
    directUrl: direct ?? pooled,
    pooled: pooled !== undefined && direct !== undefined,
  };
}

/** What it takes to reach the database; a part of the configuration of the service. */
type DatabaseSettings = ReturnType<typeof loadDatabaseSettings>;

/** Reads the variables of the database only. @throws {ConfigError} with every problem */
export function loadDatabaseSettings(source: NodeJS.ProcessEnv) {
  const { values, problems } = readVariables(databaseVariables, source);
  const database = toDatabase(values.urls);
  if (values.environment === 'production' && database.url === undefined)
    problems.push('DATABASE_URL must be set in production');
  if (problems.length > 0) throw new ConfigError(...problems);
  return { database, dataDirectory: values.dataDirectory };
}

/**
 * Locates the database of the settings: that of the variables, else the embedded one.
 *
 * @param start starts or reaches the embedded server in a folder
 * @returns its location, and `stop`, which ends what was started
 */
export async function locateDatabase(
  { database: { url, directUrl, pooled }, dataDirectory }: DatabaseSettings,
  start: (directory: string) => Promise<{ url: string; stop(): Promise<void> }>,
): Promise<DatabaseLocation & { stop(): Promise<void> }> {
  if (url !== undefined) return { url, directUrl: directUrl ?? url, pooled, stop: async () => undefined };
  const server = await start(join(dataDirectory, 'postgres'));
  return { url: server.url, directUrl: server.url, pooled: false, stop: server.stop };
}
