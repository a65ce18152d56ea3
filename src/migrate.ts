import process from 'node:process';
import { withLocation } from './cli/connection.ts';
import { migrate } from './infrastructure/database/migrations.ts';

/** The process of `npm run migrate`: brings the configured database, or the embedded one, up to date, with its variables only. */
try {
  const applied = await withLocation(process.env, ({ directUrl }) => migrate(directUrl), { create: true });
  const lines = applied.length > 0 ? applied.map((name) => `applied ${name}`) : ['nothing to apply'];
  process.stdout.write(`${lines.join('\n')}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
