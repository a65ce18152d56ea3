import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/*
 * node scripts/publish-packages.mjs v1.2.3
 *
 * Publishes both packages to npm. The tag `latest` moves only when both are there; run again, it goes on where it failed.
 */
const root = join(import.meta.dirname, '..');
const [, , tag] = process.argv;
const folders = ['client', 'react'].map((name) => join(root, 'packages', name));
const packages = folders.map((folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
for (const { name, version } of packages) {
  if (`v${version}` !== tag) throw new Error(`${name} is ${version}, and not of the tag ${tag}`);
}

// The reason of an error is read, also below a silent npm.
const npm = (...args) => execFileSync('npm', [...args, '--loglevel=error'], { cwd: root, encoding: 'utf8' });

// Builds both: what does not build is not published.
const archives = mkdtempSync(join(tmpdir(), 'dure-packages-'));
const packed = folders.map((folder) =>
  npm('pack', '--pack-destination', archives, folder).trim().split('\n').at(-1),
);
for (const [index, { name, version }] of packages.entries()) {
  if (!isPublished(`${name}@${version}`)) {
    npm('publish', join(archives, packed[index]), '--access', 'public', '--tag', 'next');
  }
}
for (const { name, version } of packages) npm('dist-tag', 'add', `${name}@${version}`, 'latest');

function isPublished(name) {
  try {
    return npm('view', name, 'version') !== '';
  } catch (error) {
    if (/E404/.test(error.stderr)) return false;
    throw error;
  }
}
