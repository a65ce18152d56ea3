import { join } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { buildApp } from './app.ts';
import { type Config, ConfigError, loadConfig, withDatabase } from './config.ts';
import { EmbeddedServerError, startEmbeddedServer } from './database/embedded-server.ts';
import { MigrationError, migrate } from './database/migrator.ts';

/** Milliseconds from the signal to the end, at most, and to the moment when whoever still sends a request is cut off. */
const shutdownTime = 14_500;
const patience = 10_000;

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const embedded = await startDatabase(config);
  const url = embedded?.url ?? config.database.url ?? '';
  const appConfig = withDatabase(config, url);
  try {
    if (config.database.migrateOnStart) await migrate(appConfig.database.directUrl);
    const app = await buildApp(appConfig);
    closeWithGrace({ delay: shutdownTime, logger: app.log }, async ({ err }) => {
      if (err) app.log.fatal({ err }, 'the process ends because of an error nobody handled');
      setTimeout(() => app.server.closeAllConnections(), patience).unref();
      await app.close();
      await embedded?.stop();
    });
    await app.listen({ host: config.host, port: config.port });
    if (config.docsEnabled) app.log.info(`explore the API at ${app.listeningOrigin}/docs/`);
    if (!config.mail.resend) app.log.info(`mails are shown at ${app.listeningOrigin}/dev/mailbox/`);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

async function startDatabase({ database, dataDirectory }: Config) {
  if (database.url !== undefined) return undefined;
  return startEmbeddedServer({ directory: join(dataDirectory, 'postgres') });
}

try {
  await start();
} catch (error) {
  const expected = [ConfigError, EmbeddedServerError, MigrationError].some((type) => error instanceof type);
  const text = error instanceof Error ? (expected ? error.message : error.stack) : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
