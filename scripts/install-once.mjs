import { join } from 'node:path';
import process from 'node:process';
import { isNewer } from './is-newer.mjs';
import { run } from './run.mjs';

/*
 * node install-once.mjs [options of npm]
 *
 * Installs the packages of the present folder, which has a package-lock.json of its own, unless they are installed.
 */
if (!isNewer(join('node_modules', '.package-lock.json'), ['package-lock.json'])) {
  run(`npm ci --silent --no-audit --no-fund ${process.argv.slice(2).join(' ')}`);
}
