import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, extname, join, normalize } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = dirname(fileURLToPath(import.meta.resolve('#package/package.json')));
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/**
 * Builds examples/web as its README says, and serves the result as a static host does: addresses without a file get the page.
 *
 * @param apiUrl of the service, which is part of the build
 */
export async function serveFrontend(port: number, apiUrl: string): Promise<{ close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'dure-web-'));
  await promisify(execFile)(
    'npm',
    ['run', 'build', '--workspace', 'examples/web', '--', '--outDir', folder],
    { cwd: root, env: { ...process.env, VITE_API_URL: apiUrl } },
  );
  const page = await readFile(join(folder, 'index.html'));
  const server = createServer(async ({ url = '/' }, response) => {
    const path = normalize(new URL(url, 'http://localhost').pathname);
    const file = extname(path) === '' ? undefined : await readFile(join(folder, path)).catch(() => undefined);
    const type = file ? types[extname(path)] : types['.html'];
    response.writeHead(200, { 'content-type': type ?? 'application/octet-stream' }).end(file ?? page);
  });
  server.listen(port, 'localhost');
  await once(server, 'listening');
  return {
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
}
