import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { checkMigrations } from './check-migrations/check.ts';
import { checkFolder, checkSchema, readMigrations } from './check-migrations/folder.ts';
import { root } from './last-release.ts';

/*
 * npm run check -- migrations; some files: node build/scripts/check-migrations.js files
 *
 * Rejects migrations that would disturb the release before, which runs on during and after them, or keep requests waiting.
 * Without files it checks all migrations of prisma/migrations after the baseline, that released ones are as they were, and that
 * together they make what prisma/schema.prisma says.
 */

const files = process.argv.slice(2);
const checks = files.length > 0 ? [() => checkMigrations(files)] : [checkFolder, checkSchema];
for (const check of checks) {
  for (const problem of await check()) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  }
}
if (process.exitCode === 1) {
  process.stderr.write('The rules and how to keep to them: docs/development/database.md.\n');
}

// Only a note, because most migrations change no figure.
const { migration } = JSON.parse(readFileSync(join(root, 'bench/sizing/measured.json'), 'utf8'));
const newest = (await readMigrations()).at(-1);
if (files.length === 0 && migration !== newest) {
  process.stderr.write(
    `bench/sizing/measured.json is older than ${newest}: measure again before you rely on docs/operations/growth.md (npm run bench -- sizing --measure)\n`,
  );
}
