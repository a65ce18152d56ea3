import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';
import { password } from '../../../../test/support/app.ts';
import { launchBrowser } from '../../../../test/support/browser.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { serve } from '../../../../test/support/serve.ts';
import { atMost } from '../../../../test/support/time.ts';
import { createPair, type Service, startService } from '../clients.ts';

const dist = dirname(fileURLToPath(import.meta.resolve('@dure/client')));

/** A page that has a client and keeps what it reports in globals. With `?response=…`, its tabs wait so long for each other. */
const html = (
  url: string,
) => `<!doctype html><meta charset="utf-8"><title>client</title><script type="module">
import { browserStorage, createClient } from '/client/index.js';
globalThis.signedOut = [];
globalThis.ids = [];
globalThis.statuses = [];
globalThis.baseUrl = '${url}';
globalThis.dure = createClient({
  baseUrl,
  storage: browserStorage(),
  onSignedOut: (reason) => signedOut.push(reason),
  streamTimes: {
    firstDelay: 50,
    firstEvent: ${atMost(10_000)},
    response: Number(new URLSearchParams(location.search).get('response') ?? ${atMost(3_000)}),
  },
});
globalThis.subscribe = (options) => dure.notifications.subscribe({
  ...options,
  onNotification: ({ id }) => ids.push(id),
  onUnreadCount: ({ unread_count }) => { globalThis.count = unread_count; },
  onStatus: (status) => statuses.push(status),
});
globalThis.isReady = true;
</script>`;

/** The service, and a website of another origin with the built package. */
async function startSite(t: Test): Promise<{ service: Service; origin: string }> {
  const port = await freePort();
  // A passkey belongs to a name, not to an IP address; the cookie to the site, which is the same for both ports.
  const origin = `http://localhost:${port}`;
  const environment = { FRONTEND_URL: origin, CORS_ORIGINS: origin, QUOTA_REQUESTS_PER_DAY: '0' };
  const started = await startService(t, environment);
  const service = { ...started, baseUrl: started.baseUrl.replace('127.0.0.1', 'localhost') };
  const site: RequestListener = async ({ url = '/' }, response) => {
    const name = /^\/client\/([\w/-]+\.js)$/.exec(url)?.[1];
    const type = name ? 'text/javascript' : 'text/html; charset=utf-8';
    const text = name ? await readFile(join(dist, name), 'utf8') : html(service.baseUrl);
    response.writeHead(200, { 'content-type': type }).end(text);
  };
  await serve(t, site, port);
  return { service, origin };
}

/** A website with the client, and a browser for it. */
export async function startBrowser(t: Test) {
  const { service, origin } = await startSite(t);
  const browser = await launchBrowser(t, {
    hasWindow: true,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });

  /** A browser of its own, whose tabs are signed in to the account that `notify` reaches. */
  async function openBrowser(t: Test) {
    const pair = await createPair(service);
    const context = await browser.newContext();
    t.teardown(() => context.close());
    const requests = countRequests(context);
    const first = await openTab(context);
    await logIn(first, pair.receiver);
    return { ...pair, context, requests, first, openTab: (path = '') => openTab(context, path) };
  }

  async function openTab(context: BrowserContext, path = ''): Promise<Page> {
    const page = await context.newPage();
    await page.goto(origin + path);
    await page.waitForFunction('globalThis.isReady');
    return page;
  }

  return { service, openBrowser, openTab };
}

/** Runs JavaScript in a page. */
export async function evaluate(page: Page, script: string): Promise<unknown> {
  return page.evaluate(script);
}

export async function logIn(page: Page, { username }: { username: string }): Promise<void> {
  await evaluate(page, `dure.auth.logIn(${JSON.stringify({ username, password })})`);
}

/** @returns how many requests to a path the tabs have sent, without preflights */
function countRequests(context: BrowserContext): (path: string) => number {
  const paths: string[] = [];
  context.on('request', (request) => {
    if (request.method() !== 'OPTIONS') paths.push(new URL(request.url()).pathname);
  });
  return (path) => paths.filter((one) => one === path).length;
}
