import { resolve } from 'node:path';
import { ConfigError } from './config.ts';
import { readEnvironment } from './environment.ts';
import { checkUrls } from './urls.ts';

/** What it takes to reach the database. */
export interface DatabaseSettings {
  production: boolean;
  /** Undefined for the embedded database. */
  url: string | undefined;
  /** Without a transaction pooler. */
  directUrl: string | undefined;
  /** Whether `url` goes through a transaction pooler. */
  pooled: boolean;
  dataDirectory: string;
}

/** The only variables that are read, so that the others may be missing or wrong. */
const names = ['NODE_ENV', 'DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATA_DIR'] as const;

/**
 * Reads the variables of the database, for commands that need nothing else, such as the migrations.
 *
 * @throws {ConfigError} with every problem
 */
export function loadDatabaseSettings(source: NodeJS.ProcessEnv): DatabaseSettings {
  const problems: string[] = [];
  const data = Object.fromEntries(names.map((name) => [name, source[name]]));
  const environment = readEnvironment(data, problems);
  checkUrls(environment, false, problems);
  const { DATABASE_URL: pooledUrl, DATABASE_DIRECT_URL: directUrl } = environment;
  const url = pooledUrl ?? directUrl;
  const production = environment.NODE_ENV === 'production';
  if (production && url === undefined) problems.push('DATABASE_URL must be set in production');
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    production,
    url,
    directUrl: directUrl ?? url,
    pooled: pooledUrl !== undefined && directUrl !== undefined,
    dataDirectory: resolve(environment.DATA_DIR),
  };
}
