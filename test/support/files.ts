import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

/** The folder of the repository. */
export const root = dirname(fileURLToPath(import.meta.resolve('#package/package.json')));

/** Where processes of the tests keep compiled modules, so that starting one again costs less CPU. Used by Node 22 or newer. */
export const compileCache = join(root, 'build/compile-cache');

/** Reads a file of the repository. */
export const readText = (path: string) => readFileSync(join(root, path), 'utf8');

/** An empty folder, until the test ends. */
export function temporaryFolder(t: Test, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'dure-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
