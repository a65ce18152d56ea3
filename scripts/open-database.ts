import { join } from 'node:path';
import process from 'node:process';
import { type AppConfig, loadConfig, withDatabase } from '../src/config/config.ts';
import { migrate } from '../src/database/migrations.ts';
import { startEmbeddedServer } from '../src/embedded-postgres/server.ts';

/**
 * Runs work on the configured database, migrated: the one of `DATABASE_URL`, or the embedded one, which is started for it and
 * must not be in use by the service.
 *
 * @throws Error in production: the accounts that the scripts make have passwords that everybody can read
 */
export async function withMigratedDatabase(work: (config: AppConfig) => Promise<void>): Promise<void> {
  const config = loadConfig({
    LOG_LEVEL: 'warn',
    RATE_LIMIT_ENABLED: 'false',
    WORKER_ENABLED: 'false',
    ...process.env,
  });
  if (config.production)
    throw new Error('This fills a database for trying things out, and not one of production.');
  const embedded =
    config.database.url === undefined
      ? await startEmbeddedServer({ directory: join(config.dataDirectory, 'postgres') })
      : undefined;
  try {
    const appConfig = withDatabase(config, embedded?.url ?? config.database.url ?? '');
    await migrate(appConfig.database.directUrl);
    await work(appConfig);
  } finally {
    await embedded?.stop();
  }
}

/** Runs a script's work and ends with a line and exit code 1 when it fails. */
export async function runScript(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
