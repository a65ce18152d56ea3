import { join, resolve } from 'node:path';
import { ConfigError, type Environment, parseUrl, readEnvironment } from './environment.ts';

/** Where the database is. */
export interface DatabaseLocation {
  url: string;
  /** Without a transaction pooler. */
  directUrl: string;
  /** Whether `url` goes through a transaction pooler. */
  pooled: boolean;
}

/** What it takes to reach the database; a part of the configuration of the service. */
type DatabaseSettings = ReturnType<typeof loadDatabaseSettings>;

/** The only variables that are read, so that the others may be missing or wrong. */
const names = ['NODE_ENV', 'DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATA_DIR'] as const;

/** The database of the variables: one of the two is enough, and without both it is the embedded one. */
export function readDatabase(environment: Environment) {
  const { DATABASE_URL: pooledUrl, DATABASE_DIRECT_URL: directUrl } = environment;
  const pooled = pooledUrl !== undefined && directUrl !== undefined;
  return { url: pooledUrl ?? directUrl, directUrl: directUrl ?? pooledUrl, pooled };
}

/** The standby that may answer reads of posts and stores. A transaction pooler in front of it is marked as for Prisma. */
export function readReplica({ DATABASE_REPLICA_URL: url }: Environment) {
  return url === undefined
    ? undefined
    : { url, pooled: parseUrl(url)?.searchParams.get('pgbouncer') === 'true' };
}

/**
 * Reads the variables of the database, for commands that need nothing else, such as the migrations.
 *
 * @throws {ConfigError} with every problem
 */
export function loadDatabaseSettings(source: NodeJS.ProcessEnv) {
  const problems: string[] = [];
  const data = Object.fromEntries(names.map((name) => [name, source[name]]));
  const environment = readEnvironment(data, problems);
  const database = readDatabase(environment);
  if (environment.NODE_ENV === 'production' && database.url === undefined) {
    problems.push('DATABASE_URL must be set in production');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { database, dataDirectory: resolve(environment.DATA_DIR) };
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
