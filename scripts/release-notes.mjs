import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/*
 * node scripts/release-notes.mjs v1.2.3
 *
 * Prints what CHANGELOG.md says of a version. Fails where the tag is not of the version in package.json, or the changelog has no
 * date for it.
 */
const root = join(import.meta.dirname, '..');
const [, , tag] = process.argv;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
if (tag !== `v${version}`) fail(`package.json is ${version}, and not of the tag ${tag}.`);

const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
const [title, ...notes] = sections.find((section) => section.startsWith(version))?.split('\n') ?? [];
if (!/, \d{4}-\d{2}-\d{2}$/.test(title)) fail(`CHANGELOG.md has no "## ${version}, <date>".`);
process.stdout.write(`${notes.join('\n').trim()}\n`);

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
