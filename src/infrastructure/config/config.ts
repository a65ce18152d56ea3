import { join } from 'node:path';
import { inspectConfig, readDatabase } from './environment.ts';
import { ConfigError, openVariables } from './readers.ts';

export type { PrivateKey, Secret } from './keys.ts';
export type { LoginProviderSettings } from './login-providers.ts';
export { ConfigError } from './readers.ts';

/** The configuration, validated and converted. Durations are in seconds. */
export type Config = ReturnType<typeof inspectConfig>['config'];

type DatabaseSettings = ReturnType<typeof readDatabase>;

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
export function withDatabase(config: Config, location: DatabaseLocation): AppConfig {
  return { ...config, database: { ...config.database, ...location } };
}

/** Reads the configuration, once, at start. @throws {ConfigError} with every problem */
export function loadConfig(source: NodeJS.ProcessEnv, { generateSecret = true } = {}): Config {
  const { config, problems } = inspectConfig(source, { generateSecret });
  if (problems.length > 0) throw new ConfigError(...problems);
  return config;
}

/** Reads what it takes to reach the database; other variables may be missing or wrong. @throws {ConfigError} with every problem */
export function loadDatabaseSettings(source: NodeJS.ProcessEnv): DatabaseSettings {
  // The service needs `DATABASE_URL` in production; here one of the two is enough.
  const isNeeded = source['NODE_ENV'] === 'production' && !source['DATABASE_DIRECT_URL'];
  const variables = openVariables(source, isNeeded ? ['DATABASE_URL'] : []);
  const settings = readDatabase(variables);
  if (variables.problems.length > 0) throw new ConfigError(...variables.problems);
  return settings;
}

/** Locates the database of the settings, or the embedded one, which `start` reaches. `stop` ends what was started. */
export async function locateDatabase(
  { database: { url, directUrl, pooled }, dataDirectory }: DatabaseSettings,
  start: (directory: string) => Promise<{ url: string; stop(): Promise<void> }>,
): Promise<DatabaseLocation & { stop(): Promise<void> }> {
  if (url !== undefined) return { url, directUrl: directUrl ?? url, pooled, stop: async () => undefined };
  const server = await start(join(dataDirectory, 'postgres'));
  return { url: server.url, directUrl: server.url, pooled: false, stop: server.stop };
}
