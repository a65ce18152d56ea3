import process from 'node:process';
import { startEmbeddedServer } from '../src/development/embedded-postgres/server.ts';
import {
  type AppConfig,
  loadConfig,
  locateDatabase,
  withDatabase,
} from '../src/infrastructure/config/config.ts';
import { migrate } from '../src/infrastructure/database/migrations.ts';

/**
 * Runs work on the migrated database: that of the variables, or the embedded one, which the service must not be using.
 *
 * @throws Error in production, because the passwords of the created accounts are public
 */
export async function withMigratedDatabase(work: (config: AppConfig) => Promise<void>): Promise<void> {
  const config = loadConfig({
    LOG_LEVEL: 'warn',
    RATE_LIMIT_ENABLED: 'false',
    WORKER_ENABLED: 'false',
    ...process.env,
  });
  if (config.production)
    throw new Error('this fills the database with test data and does not run in production');
  const { stop, ...location } = await locateDatabase(config, (directory) =>
    startEmbeddedServer({ directory }),
  );
  try {
    await migrate(location.directUrl);
    await work(withDatabase(config, location));
  } finally {
    await stop();
  }
}

/** Runs a script; when it fails, prints one line and sets exit code 1. */
export async function runScript(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
