import process from 'node:process';
import { loadDatabaseSettings, locateDatabase } from './infrastructure/config/database-settings.ts';
import { migrate } from './infrastructure/database/migrations.ts';

/**
 * The process of `npm run migrate`: brings the configured database, or the embedded one, up to date. It needs the variables of the
 * database only.
 */
async function run(): Promise<string[]> {
  const { directUrl, stop } = await locateDatabase(loadDatabaseSettings(process.env), async (directory) => {
    // biome-ignore lint/style/noRestrictedImports: loaded without DATABASE_URL only
    const { startEmbeddedServer } = await import('./development/embedded-postgres/server.ts');
    return startEmbeddedServer({ directory });
  });
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
