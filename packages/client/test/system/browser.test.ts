import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { password } from '../../../../test/support/app.ts';
import { addAuthenticator, launchBrowser, noBrowser } from '../../../../test/support/browser.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { serve } from '../../../../test/support/serve.ts';
import { atMost } from '../../../../test/support/time.ts';
import { until } from '../../../../test/support/until.ts';
import { createPair, type Service, startService } from '../clients.ts';

const dist = dirname(fileURLToPath(import.meta.resolve('@dure/client')));
const refreshPath = '/auth/token/refresh/';
const streamPath = '/api/v1/notifications/stream/';

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

t.test('tabs of one browser', { skip: noBrowser }, async (t) => {
  const { service, origin } = await startSite(t);
  const browser = await launchBrowser({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  t.teardown(() => browser.close());

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

  t.test('refresh once', async (t) => {
    const { first, openTab, requests } = await openBrowser(t);
    const tabs = [first, await openTab(), await openTab()];
    await evaluate(
      first,
      `localStorage.setItem('dure', JSON.stringify({ ...JSON.parse(localStorage.getItem('dure')), access: 'spoilt' }))`,
    );
    const calls =
      'Promise.all(Array.from({ length: 5 }, () => dure.auth.getCurrentUser())).then((all) => all.length)';
    t.same(await Promise.all(tabs.map((tab) => evaluate(tab, calls))), [5, 5, 5]);
    t.equal(requests(refreshPath), 1);
  });

  t.test(
    'have one stream, which leaves connections for calls, and which another tab takes over',
    async (t) => {
      const { first, openTab, requests, notify, receiver } = await openBrowser(t);
      await subscribe(first);
      const others = await Promise.all(Array.from({ length: 6 }, () => openTab()));
      for (const tab of others) {
        await subscribe(tab);
        await until('the count of the leader', () => evaluate(tab, 'count === 0'));
      }
      await notify(2);
      for (const tab of [first, ...others]) {
        await until('both', () => evaluate(tab, 'ids.length === 2 && count === 2'));
      }
      const late = await openTab();
      await evaluate(late, 'void subscribe({ after: 0 })');
      await until('what the leader had before', () => evaluate(late, 'ids.length === 2 && count === 2'));
      t.equal(requests(streamPath), 1);
      const tabs = [first, ...others, late];
      await Promise.all(tabs.map((tab) => evaluate(tab, 'dure.stores.getMyPage().then(() => true)')));

      // Some arrive while no tab has a stream.
      const closing = first.close();
      await notify(3);
      await closing;
      const { items } = await receiver.dure.notifications.list({ limit: 10 });
      for (const tab of [...others, late]) {
        await until('all', () => evaluate(tab, 'ids.length >= 5 && count === 5'));
        t.same(await evaluate(tab, 'ids'), items.map(({ id }) => id).reverse());
      }
      t.equal(requests(streamPath), 2);
    },
  );

  t.test('replace a tab that has the stream and does not answer', async (t) => {
    const { first, openTab, notify } = await openBrowser(t);
    // As a tab that the system has suspended: it keeps its lock.
    const name = `'dure:dure:' + dure.userId() + ':' + baseUrl + ':'`;
    await evaluate(first, `void navigator.locks.request(${name}, () => new Promise(() => {}))`);
    const second = await openTab('?response=200');
    t.equal(await evaluate(second, `navigator.locks.query().then(({ held }) => held.length)`), 1);
    await subscribe(second);
    await notify(2);
    await until('the notifications', () => evaluate(second, 'ids.length === 2'));
  });

  t.test('learn of a changed user', async (t) => {
    const { first, openTab } = await openBrowser(t);
    const second = await openTab();
    await evaluate(first, `dure.auth.updateCurrentUser({ name: '새 이름' })`);
    await until(
      'the other tab',
      async () => (await evaluate(second, 'dure.session.user?.name')) === '새 이름',
    );
  });

  t.test('sign out together', async (t) => {
    const { first, openTab } = await openBrowser(t);
    const second = await openTab();
    for (const tab of [first, second]) await subscribe(tab);
    await evaluate(first, 'dure.auth.logOut()');
    await until('the other tab', () => evaluate(second, `statuses.at(-1) === 'closed'`));
    t.same(await evaluate(second, 'signedOut'), ['elsewhere']);
    t.same(await evaluate(first, 'signedOut'), ['logged_out']);
    t.equal(await evaluate(second, 'dure.isSignedIn()'), false);
    t.equal(await evaluate(second, 'localStorage.length'), 0);
  });

  t.test('add a passkey and log in with it, also from the autofill', async (t) => {
    const { first, receiver } = await openBrowser(t);
    const devtools = await addAuthenticator(first);
    t.match(await evaluate(first, `dure.passkeys.register({ name: '내 휴대폰' })`), { name: '내 휴대폰' });
    const again = 'dure.passkeys.register().catch(({ name }) => name)';
    t.equal(await evaluate(first, again), 'InvalidStateError', 'this authenticator has one already');
    for (const options of ['', '{ conditional: true }']) {
      await evaluate(first, 'dure.auth.logOut()');
      const id = await evaluate(first, `dure.passkeys.logIn(${options}).then(({ user }) => user.id)`);
      t.equal(id, receiver.user.id, options);
      t.equal(await evaluate(first, 'dure.userId()'), receiver.user.id);
    }
    // Without the user, the autofill waits until the button ends it.
    await devtools.send('WebAuthn.disable');
    const started = first.waitForResponse(`${service.baseUrl}/auth/passkeys/login/start/`);
    await evaluate(
      first,
      `void dure.passkeys.logIn({ conditional: true }).catch(({ name }) => { globalThis.autofill = name; })`,
    );
    await started;
    await evaluate(
      first,
      `globalThis.leaving = new AbortController();
       void dure.passkeys.logIn({ signal: leaving.signal }).catch(({ message }) => { globalThis.left = message; })`,
    );
    await until('the end of the autofill', () => evaluate(first, 'globalThis.autofill'));
    t.equal(await evaluate(first, 'autofill'), 'AbortError');
    await evaluate(first, `leaving.abort(new Error('left'))`);
    t.equal(await until('the end', () => evaluate(first, 'globalThis.left')), 'left');
  });

  t.test('a page that comes back from the back/forward cache goes on', async (t) => {
    const { first, notify } = await openBrowser(t);
    await subscribe(first);
    await evaluate(first, 'void (globalThis.isSame = true)');
    await first.goto(`${service.baseUrl}/health/live`);
    await notify(2);
    await first.goBack({ waitUntil: 'commit' });
    t.equal(await evaluate(first, 'globalThis.isSame'), true, 'the page was kept');
    await until('what was missed', () => evaluate(first, 'ids.length === 2'));
    t.equal(await evaluate(first, `statuses.at(-1)`), 'open');
  });

  t.test('a visitor causes no preflight', async (t) => {
    const tab = await openTab(await browser.newContext());
    t.teardown(() => tab.context().close());
    const methods: string[] = [];
    service.app.server.on('request', ({ method, url }) => methods.push(`${method} ${url}`));
    await evaluate(tab, 'dure.stores.listCategories().then(({ items }) => items.length)');
    t.same(methods, ['GET /api/v1/stores/categories/']);
  });

  t.test('an upload reports its progress, and can be aborted', async (t) => {
    const { first } = await openBrowser(t);
    const image = `await ((canvas) => canvas.getContext('2d') && canvas.convertToBlob())(new OffscreenCanvas(640, 480))`;
    const uploaded = await evaluate(
      first,
      `(async () => {
        const steps = [];
        const image = ${image};
        const { width } = await dure.images.upload({ image }, { onUploadProgress: (step) => steps.push(step) });
        const { loaded, total } = steps.at(-1);
        return { width, isComplete: loaded === total && total >= image.size };
      })()`,
    );
    t.same(uploaded, { width: 640, isComplete: true });
    const aborted = await evaluate(
      first,
      `(async () => {
        const controller = new AbortController();
        const onUploadProgress = () => controller.abort(new Error('enough'));
        const options = { signal: controller.signal, onUploadProgress };
        return dure.images.upload({ image: ${image} }, options).catch(({ message }) => message);
      })()`,
    );
    t.equal(aborted, 'enough');
    const text = `dure.images.upload({ image: new Blob(['text']) }, { onUploadProgress() {} })`;
    t.equal(await evaluate(first, `${text}.catch(({ code }) => code)`), 'invalid_image');
  });

  t.test('tokens are kept in memory where storage is blocked', async (t) => {
    const { receiver, context } = await openBrowser(t);
    await context.addInitScript(`Object.defineProperty(globalThis, 'localStorage', {
      get() { throw new DOMException('blocked', 'SecurityError'); } })`);
    const tab = await openTab(context);
    t.equal(await evaluate(tab, 'dure.isSignedIn()'), false);
    await logIn(tab, receiver);
    t.equal(await evaluate(tab, 'dure.auth.getCurrentUser().then(({ id }) => id)'), receiver.user.id);
  });
});

/** Runs JavaScript in a page. */
async function evaluate(page: Page, script: string): Promise<unknown> {
  return page.evaluate(script);
}

async function logIn(page: Page, { username }: { username: string }): Promise<void> {
  await evaluate(page, `dure.auth.logIn(${JSON.stringify({ username, password })})`);
}

/** Subscribes in a tab, and waits until it has a stream or follows that of another tab. */
async function subscribe(tab: Page): Promise<void> {
  await evaluate(tab, 'void subscribe()');
  await until('a stream', () => evaluate(tab, `statuses.at(-1) === 'open'`));
}

/** @returns how many requests to a path the tabs have sent, without preflights */
function countRequests(context: BrowserContext): (path: string) => number {
  const paths: string[] = [];
  context.on('request', (request) => {
    if (request.method() !== 'OPTIONS') paths.push(new URL(request.url()).pathname);
  });
  return (path) => paths.filter((one) => one === path).length;
}
