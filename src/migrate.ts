import process from 'node:process';
import { loadDatabaseSettings, locateDatabase } from './config/database-settings.ts';
import { migrate } from './database/migrations.ts';
import { startEmbeddedServer } from './embedded-postgres/server.ts';

/**
 * The process of `npm run migrate`: brings the configured database, or the embedded one, up to date. It needs the variables of the
 * database only.
 */
async function run(): Promise<string[]> {
  const { directUrl, stop } = await locateDatabase(loadDatabaseSettings(process.env), (directory) =>
    startEmbeddedServer({ directory }),
  );
  try {
    return await migrate(directUrl);
  } finally {
    await stop();
  }
}

try {
  const applied = await run();
  const lines = applied.length > 0 ? applied.map((name) => `applied ${name}`) : ['nothing to apply'];
  process.stdout.write(`${lines.join('\n')}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
