import { join } from 'node:path';
import { inspectConfig } from './environment.ts';
import { ConfigError } from './readers.ts';

export type { LoginProviderSettings } from './login-providers.ts';
export type { PrivateKey } from './private-keys.ts';
export { ConfigError } from './readers.ts';
export type { Secret } from './secrets.ts';

/** The configuration, validated and converted. Durations are in seconds. */
export type Config = ReturnType<typeof inspectConfig>['config'];

/** How many times longer than in production work may take: tests set it, for slow machines, and no variable does. */
export interface Patience {
  limitFactor?: number;
}

/** Where the database is. */
export interface DatabaseLocation {
  url: string;
  /** Without a transaction pooler. */
  directUrl: string;
  /** Whether `url` goes through a transaction pooler. */
  pooled: boolean;
}

/** A configuration with the location of the database: of the variables, or of the embedded server once it runs. */
export type AppConfig = Config & Patience & { database: DatabaseLocation };

/** Adds the location of the database to a configuration. */
export function withDatabase(config: Config, { url, directUrl, pooled }: DatabaseLocation): AppConfig {
  return { ...config, database: { ...config.database, url, directUrl, pooled } };
}

/**
 * Reads the configuration from environment variables; called once, at start.
 *
 * @param options `generateSecret`: whether a missing secret is generated, outside production
 * @throws {ConfigError} with every problem
 */
export function loadConfig(source: NodeJS.ProcessEnv, { generateSecret = true } = {}): Config {
  const { config, problems } = inspectConfig(source, { generateSecret });
  if (problems.length > 0) throw new ConfigError(...problems);
  return config;
}

/** Reads what it takes to reach the database; other variables may be missing or wrong. @throws {ConfigError} with every problem */
export function loadDatabaseSettings(source: NodeJS.ProcessEnv): Pick<Config, 'database' | 'dataDirectory'> {
  const { config, problems } = inspectConfig(source);
  // The service needs `DATABASE_URL` in production; here one of the two is enough.
  const ignored = config.database.url === undefined ? undefined : 'DATABASE_URL must be set in production';
  const ofDatabase = problems.filter(
    (text) => /^(NODE_ENV|DATABASE_(DIRECT_)?URL) /.test(text) && text !== ignored,
  );
  if (ofDatabase.length > 0) throw new ConfigError(...ofDatabase);
  return config;
}

/**
 * Locates the database of the settings: that of the variables, else the embedded one.
 *
 * @param start starts or reaches the embedded server in a folder
 * @returns its location, and `stop`, which ends what was started
 */
export async function locateDatabase(
  { database: { url, directUrl, pooled }, dataDirectory }: Pick<Config, 'database' | 'dataDirectory'>,
  start: (directory: string) => Promise<{ url: string; stop(): Promise<void> }>,
): Promise<DatabaseLocation & { stop(): Promise<void> }> {
  if (url !== undefined) return { url, directUrl: directUrl ?? url, pooled, stop: async () => undefined };
  const server = await start(join(dataDirectory, 'postgres'));
  return { url: server.url, directUrl: server.url, pooled: false, stop: server.stop };
}
