import process from 'node:process';
import { run } from './run.mjs';

/*
 * npm run check [-- parts]
 *
 * Checks what needs no running service, in this order; the first failure ends it.
 */
const parts = {
  lint: ['biome check .', 'node --test --test-reporter=dot examples/web/messages'],
  types: [
    'node scripts/generate.mjs',
    'npm run --silent build:client',
    'tsc',
    'npm run --silent types --workspace examples/web',
  ],
  migrations: ['node build/scripts/check-migrations.js'],
  document: [
    'node build/scripts/export-openapi.js --check',
    'node build/scripts/export-errors.js --check',
    'node build/scripts/translations.js --check',
    'redocly lint openapi.yaml',
  ],
  clients: ['npm run --silent build:client', 'npm run --silent --prefix scripts/check-clients check'],
};

const chosen = process.argv.slice(2);
const unknown = chosen.find((part) => !(part in parts));
if (unknown !== undefined) {
  process.stderr.write(`There is no part ${unknown}: ${Object.keys(parts).join(', ')}\n`);
  process.exit(2);
}
// What two parts need is done once.
run(...new Set((chosen.length > 0 ? chosen : Object.keys(parts)).flatMap((part) => parts[part])));
