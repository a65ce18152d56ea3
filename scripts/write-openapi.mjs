import { run } from './run.mjs';

/*
 * npm run openapi
 *
 * Writes openapi.yaml from the routes, and the tables of codes from the errors of the code and of the document. The SDK and its
 * tests are compiled against the document, so that their types are checked after it is written.
 */
run(
  'node scripts/generate.mjs',
  'tsc --noCheck',
  'node build/scripts/export-openapi.js',
  'npm run --silent compile',
  'node build/scripts/export-errors.js',
);
