import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { preview } from 'vite';
import { root, temporaryFolder } from '../../support/files.ts';

/**
 * Builds examples/web as its README says, and serves the result as a static host does, until the test ends: addresses without a
 * file get the page.
 *
 * @param apiUrl of the service, which is part of the build
 */
export async function serveFrontend(t: Test, port: number, apiUrl: string): Promise<void> {
  const outDir = temporaryFolder(t);
  await promisify(execFile)(
    'npm',
    ['run', 'build', '--workspace', 'examples/web', '--', '--outDir', outDir],
    { cwd: root, env: { ...process.env, VITE_API_URL: apiUrl } },
  );
  const server = await preview({
    root: join(root, 'examples/web'),
    build: { outDir },
    preview: { port },
    logLevel: 'error',
  });
  t.teardown(() => server.close());
}
