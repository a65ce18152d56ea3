import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { createTestApp, createUser, password } from '../../support/app.ts';
import { launchBrowser, noBrowser } from '../../support/browser.ts';
import { freePort } from '../../support/free-port.ts';
import { listen } from '../../support/raw-http.ts';
import { serve } from '../../support/serve.ts';

const cookieName = '__Host-dure-refresh';
const json = { 'content-type': 'application/json' };
const mode = { ...json, 'x-refresh-token': 'cookie' };

/** Runs in a page. @returns all that its scripts can read, or the error where the browser blocks the request or the response */
async function send({ url, init }: { url: string; init: RequestInit }) {
  try {
    const response = await fetch(url, { method: 'POST', credentials: 'include', ...init });
    const { status, type, headers } = response;
    return { status, type, text: await response.text(), headers: JSON.stringify([...headers]) };
  } catch (error) {
    return String(error);
  }
}

const blocked = 'TypeError: Failed to fetch';

// Chromium resolves `*.localhost` to this machine and takes its pages as secure, so the cookie is that of production.
t.test('the refresh token in a cookie, in Chromium', { skip: noBrowser }, async (t) => {
  const port = await freePort();
  await serve(t, (_request, response) => response.setHeader('content-type', 'text/html').end('<body>'), port);
  const frontend = `http://app.shop.localhost:${port}`;
  /** Of the same site, to which the cookie is sent, and of another one. */
  const strangers = [`http://evil.shop.localhost:${port}`, `http://evil.localhost:${port}`];
  const app = await createTestApp({ FRONTEND_URL: frontend, WORKER_ENABLED: 'false' });
  const api = `http://api.shop.localhost:${await listen(app.app)}`;
  const user = await createUser(app);
  const browser = await launchBrowser(t);

  async function open(context: BrowserContext, origin: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(origin);
    return page;
  }

  const post = (page: Page, path: string, init: RequestInit = {}) =>
    page.evaluate(send, { url: `${api}/auth/${path}/`, init: { headers: mode, body: '{}', ...init } });

  const credentials = { body: JSON.stringify({ username: user.username, password }) };

  /** A browser that is logged in at the frontend. */
  async function logIn(t: Test) {
    const context = await browser.newContext();
    t.teardown(() => context.close());
    const page = await open(context, frontend);
    const login = await post(page, 'login', credentials);
    return { context, page, login, token: await tokenIn(context) };
  }

  /** The token in the cookie, which only the browser itself knows. */
  async function tokenIn(context: BrowserContext): Promise<string | undefined> {
    return (await context.cookies(api.replace('http', 'https'))).find(({ name }) => name === cookieName)
      ?.value;
  }

  /** The next request of a browser to an operation, as it reaches the service. */
  async function nextRequest(path: string): Promise<IncomingMessage> {
    for (;;) {
      const [request]: IncomingMessage[] = await once(app.app.server, 'request');
      if (request?.url === `/auth/${path}/` && request.method === 'POST') return request;
    }
  }

  const sessions = async () =>
    (await app.pool.query('SELECT id, refresh_count FROM sessions WHERE user_id = $1 ORDER BY id', [user.id]))
      .rows;

  t.test('the frontend logs in, refreshes and logs out, and reads the token nowhere', async (t) => {
    const { context, page, login, token = 'none' } = await logIn(t);
    await page.reload();
    const refreshed = await post(page, 'token/refresh');
    const next = String(await tokenIn(context));
    t.not(next, token);
    const apiPage = await open(context, `${api}/health/`);
    const readable = [login, refreshed, ...(await Promise.all([page, apiPage].map(readableIn)))];
    t.match(readable, [{ status: 200 }, { status: 200 }, '', '']);
    for (const secret of [token, next]) t.notOk(JSON.stringify(readable).includes(secret));
    t.match(await post(page, 'logout'), { status: 200 });
    t.strictSame(await context.cookies(), []);
    t.match(await post(page, 'token/refresh'), { status: 401, text: /not_authenticated/ });
  });

  t.test('a page of another origin can neither log in nor refresh nor log out', async (t) => {
    const { context, token } = await logIn(t);
    const before = await sessions();
    for (const origin of strangers) {
      const page = await open(context, origin);
      for (const path of ['token/refresh', 'logout'])
        t.equal(await post(page, path), blocked, 'by the preflight');
      t.equal(await post(page, 'login', credentials), blocked);

      const isSent = nextRequest('token/refresh');
      t.match(await post(page, 'token/refresh', { mode: 'no-cors', body: null }), {
        status: 0,
        type: 'opaque',
        text: '',
      });
      const { headers } = await isSent;
      t.equal(headers['x-refresh-token'], undefined, 'no-cors leaves the header out');
      t.equal(headers.cookie?.includes(cookieName) ?? false, origin === strangers[0], 'SameSite=Strict');

      for (const path of ['token/refresh', 'logout']) {
        const [response] = await Promise.all([
          page.waitForResponse(`${api}/auth/${path}/`),
          page.waitForURL(`${api}/auth/${path}/`),
          page.evaluate(`
            document.body.innerHTML = '<form method="post" enctype="text/plain" action="${api}/auth/${path}/"></form>';
            document.forms[0].submit()`),
        ]);
        t.equal(response.status(), 415, 'nor with a form');
        await page.goto(origin);
      }
    }
    t.strictSame(await sessions(), before, 'nothing rotated or ended');
    t.equal(await tokenIn(context), token);
  });

  t.test('a sibling domain cannot put its own token in the cookie', async (t) => {
    const { context, page } = await logIn(t);
    const sibling = await open(context, String(strangers[0]));
    const planted = (await createUser(app)).refresh;
    for (const attributes of [
      'Domain=shop.localhost; Path=/; Secure',
      'Path=/; Domain=api.shop.localhost; Secure',
    ]) {
      await sibling.evaluate(`document.cookie = '${cookieName}=${planted}; ${attributes}'`);
    }
    await sibling.evaluate(`document.cookie = 'dure-refresh=${planted}; Domain=shop.localhost; Path=/auth/'`);
    const isSent = nextRequest('token/refresh');
    const refreshed = await post(page, 'token/refresh');
    const sent = String((await isSent).headers.cookie);
    t.match(sent, `dure-refresh=${planted}`, 'the browser sends the one without the prefix');
    t.notMatch(sent, `${cookieName}=${planted}`);
    t.match(refreshed, { status: 200 });
    const { access } = JSON.parse((refreshed as { text: string }).text).data;
    t.equal((await app.call('GET', '/auth/me/', { token: access })).body.data.id, user.id);
  });
});

/** The cookies that scripts of a page can read. */
const readableIn = (page: Page) => page.evaluate<string>('document.cookie');
