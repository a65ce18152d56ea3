import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './files.ts';

const folder = join(root, 'scripts/check-clients');

/**
 * Installs what checks the API from outside, Lighthouse and Specmatic among it, as `npm run check` does, unless it is there. Two tests
 * must not do it at once.
 *
 * @returns the folder of one of its packages
 */
export async function installChecker(name: string): Promise<string> {
  await promisify(execFile)('npm', ['run', '--silent', '--prefix', folder, 'install:once']);
  return join(folder, 'node_modules', name);
}
