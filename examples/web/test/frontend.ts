import { execFile } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { preview } from 'vite';
import { createTestApp, password } from '../../../test/support/app.ts';
import { type BrowserOptions, launchBrowser } from '../../../test/support/browser.ts';
import { root, sharedFolder, temporaryFolder } from '../../../test/support/files.ts';
import { freePort } from '../../../test/support/free-port.ts';

/** What the shared build has in place of the URL of the service. */
const anyApi = 'https://api.of.any.test.example';

/** Of the host, with which it reads the titles of shared posts. */
export const hostAccount = { SHARE_USERNAME: 'shared-posts', SHARE_PASSWORD: password };

/** The service with the frontend of examples/web, and a browser for it, until the test ends. */
export async function startExample(
  t: Test,
  environment: Record<string, string> = {},
  browserOptions: BrowserOptions = {},
) {
  const browser = await launchBrowser(t, browserOptions);
  const [port, apiPort] = [await freePort(), await freePort()];
  const origin = `http://localhost:${port}`;
  const api = `http://localhost:${apiPort}`;
  const urls = { FRONTEND_URL: origin, CORS_ORIGINS: origin, PUBLIC_URL: api };
  const service = await createTestApp({ ...urls, ...environment });
  t.teardown(service.close);
  await service.app.listen({ port: apiPort });
  await serveFrontend(t, port, api);
  return { browser, origin, api, ...service };
}

/** Serves examples/web for a service as a static host does, until the test ends: addresses without a file get the page. */
async function serveFrontend(t: Test, port: number, apiUrl: string): Promise<void> {
  const outDir = temporaryFolder(t);
  await cp(await sharedFolder('example-frontend', build), outDir, { recursive: true });
  for (const name of await readdir(outDir, { recursive: true })) {
    if (!/\.(?:html|js)$/.test(name)) continue;
    const text = await readFile(join(outDir, name), 'utf8');
    await writeFile(join(outDir, name), text.replaceAll(anyApi, apiUrl));
  }
  const environment = { ...hostAccount, VITE_API_URL: apiUrl };
  Object.assign(process.env, environment);
  const site = { root: join(root, 'examples/web'), build: { outDir }, preview: { port } };
  const server = await preview({ ...site, logLevel: 'error' });
  // What the process starts next, such as another build, is not meant.
  for (const name of Object.keys(environment)) Reflect.deleteProperty(process.env, name);
  t.teardown(() => server.close());
}

/** Builds examples/web as its README says. */
async function build(outDir: string): Promise<void> {
  const command = ['run', 'build', '--workspace', 'examples/web', '--', '--outDir', outDir];
  await promisify(execFile)('npm', command, { cwd: root, env: { ...process.env, VITE_API_URL: anyApi } });
}
