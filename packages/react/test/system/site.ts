import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { password } from '../../../../test/support/app.ts';
import { launchBrowser } from '../../../../test/support/browser.ts';
import { root } from '../../../../test/support/files.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { serve } from '../../../../test/support/serve.ts';
import { until } from '../../../../test/support/until.ts';
import { startService } from '../../../client/test/clients.ts';
import { installPacked } from '../../../client/test/system/packed.ts';
import type { Shown } from './pages.ts';

const readme = readFileSync(join(root, 'packages/react/README.md'), 'utf8');

/** The two blocks of the README that are whole files. */
export const [app = '', logIn = ''] = [...readme.matchAll(/```tsx\n(import .*?)```/gs)].map(
  ([, code = '']) => code,
);

const modules = createRequire(join(root, 'packages/react/package.json'));

/** A script that shows a component in StrictMode, with React in development, which reports more mistakes. */
async function bundle(folder: string, setUp: string): Promise<string> {
  const contents = `
    import { StrictMode, createElement } from 'react';
    import { createRoot, hydrateRoot } from 'react-dom/client';
    const place = document.getElementById('root');
    const strict = (type, ...rest) => createElement(StrictMode, null, createElement(type, ...rest));
    ${setUp}`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    alias: {
      react: dirname(modules.resolve('react/package.json')),
      'react-dom': dirname(modules.resolve('react-dom/package.json')),
      '@dure/client': join(folder, 'node_modules/@dure/client/dist/index.js'),
      '@dure/react': join(folder, 'node_modules/@dure/react/dist/index.js'),
      '@tanstack/react-query': join(root, 'node_modules/@tanstack/react-query'),
    },
    jsx: 'automatic',
    bundle: true,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"development"' },
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

/** A service, and a website with pages on the packed packages. */
export async function startSite(t: Test) {
  const { folder } = await installPacked(t);
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const service = await startService(t, { FRONTEND_URL: origin, QUOTA_REQUESTS_PER_DAY: '0' });
  await writeFile(join(folder, 'log-in.tsx'), logIn);
  await writeFile(join(folder, 'app.tsx'), app.replace('http://localhost:3000', service.baseUrl));
  const pages = join(root, 'packages/react/test/system/pages.ts');
  const withProvider = `
    import { browserStorage, createClient } from '@dure/client';
    import { DureProvider } from '@dure/react';
    const client = createClient({ baseUrl: '${service.baseUrl}', storage: browserStorage() });
    globalThis.dure = client;
    const show = (type) => createRoot(place).render(strict(DureProvider, { client }, createElement(type)));`;
  const scripts: Record<string, string> = {
    '/': await bundle(folder, `import App from './app.tsx'; createRoot(place).render(strict(App));`),
    '/log-in': await bundle(folder, `${withProvider} import { LogIn } from './log-in.tsx'; show(LogIn);`),
    '/account': await bundle(folder, `${withProvider} import { Account } from '${pages}'; show(Account);`),
    '/hydrated': await bundle(
      folder,
      `
      import { renderToString } from 'react-dom/server.browser';
      import App from './app.tsx';
      place.innerHTML = globalThis.html = renderToString(strict(App));
      globalThis.mismatches = [];
      const onRecoverableError = ({ message }) => mismatches.push(message);
      hydrateRoot(place, strict(App), { onRecoverableError });`,
    ),
  };
  await serve(
    t,
    ({ url = '/' }, response) => {
      const script = scripts[url.replace('.js', '')];
      const html = `<!doctype html><title>app</title><div id="root"></div><script type="module" src="${url}.js"></script>`;
      const isScript = url.endsWith('.js');
      const type = isScript ? 'text/javascript' : 'text/html; charset=utf-8';
      response.writeHead(script === undefined ? 404 : 200, { 'content-type': type });
      response.end(isScript ? script : html);
    },
    port,
  );
  const browser = await launchBrowser(t);
  /** What React and the browser complain about. */
  const problems: string[] = [];
  const report = (text: string) => void (/Failed to load resource/.test(text) || problems.push(text));

  async function openContext(t: Test): Promise<(path: string) => Promise<Page>> {
    const context = await browser.newContext({ locale: 'ko-KR' });
    t.teardown(() => context.close());
    return async (path) => {
      const page = await context.newPage();
      page.on('console', (message) => message.type() === 'error' && report(message.text()));
      page.on('pageerror', ({ message }) => report(message));
      await page.goto(origin + path);
      return page;
    };
  }

  return { service, openContext, problems };
}

export async function signIn(page: Page, { username }: { username: string }): Promise<void> {
  await page.evaluate(`dure.auth.logIn(${JSON.stringify({ username, password })})`);
}

/** @returns a function that waits until the page `/account` shows something */
export function shownOn(page: Page) {
  return (what: string, condition: (last: Shown) => boolean) =>
    until(what, async () => (await page.evaluate<Shown[]>('shown')).slice(-1).some(condition));
}
