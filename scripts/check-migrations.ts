import process from 'node:process';
import { checkMigrations } from './check-migrations/check.ts';
import { checkFolder } from './check-migrations/folder.ts';

/*
 * npm run check:migrations [-- files]
 *
 * Rejects migrations that would disturb the release before, which runs on during and after them, or keep requests waiting.
 * Without files it checks all migrations of prisma/migrations after the baseline, and that released ones are as they were.
 */

const files = process.argv.slice(2);
const problems = await (files.length > 0 ? checkMigrations(files) : checkFolder());
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) {
  process.stderr.write('The rules and how to keep to them: docs/development/database.md.\n');
  process.exitCode = 1;
}
