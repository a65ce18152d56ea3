import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { build } from 'esbuild';
import type { Page, Response, Route } from 'playwright-core';
import t, { type Test } from 'tap';
import { password } from '../../../../test/support/app.ts';
import { launchBrowser, noBrowser } from '../../../../test/support/browser.ts';
import { root } from '../../../../test/support/files.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { serve } from '../../../../test/support/serve.ts';
import { until } from '../../../../test/support/until.ts';
import { createClient, images, openShop, startService } from '../../../client/test/clients.ts';
import { checkFiles, installPacked, typeErrors } from '../../../client/test/system/packed.ts';
import type { Shown } from './pages.ts';

const { folder, files } = await installPacked(t, ['packages/client', 'packages/react']);
const readme = await readFile(join(root, 'packages/react/README.md'), 'utf8');
/** The two blocks of the README that are whole files. */
const [app = '', logIn = ''] = [...readme.matchAll(/```tsx\n(import .*?)```/gs)].map(([, code = '']) => code);

t.test('the package has what it needs, and nothing else', (t) => checkFiles(t, files));

t.test('the README begins with ten lines', async (t) => {
  const lines = app
    .trim()
    .split('\n')
    .filter((line) => !/^(import |$)/.test(line));
  t.equal(lines.length, 10);
  t.ok(lines.every(({ length }) => length <= 110));
});

t.test('its types work in strict apps', async (t) => {
  await writeFile(join(folder, 'app.tsx'), app);
  await writeFile(join(folder, 'log-in.tsx'), logIn);
  await copyFile(join(root, 'packages/react/test/system/consumer.ts'), join(folder, 'consumer.ts'));
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/react', '@tanstack']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const options = {
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    jsx: 'react-jsx',
    module: 'esnext',
    moduleResolution: 'bundler',
    exactOptionalPropertyTypes: true,
  };
  t.equal(await typeErrors(folder, ['app.tsx', 'log-in.tsx', 'consumer.ts'], options, '.'), '');
});

const modules = createRequire(join(root, 'packages/react/package.json'));

/** A script that shows a component in StrictMode, with React in development, which reports more mistakes. */
async function bundle(setUp: string): Promise<string> {
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

t.test('in a browser', { skip: noBrowser }, async (t) => {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const service = await startService(t, { FRONTEND_URL: origin, QUOTA_REQUESTS_PER_DAY: '0' });
  await writeFile(join(folder, 'app.tsx'), app.replace('http://localhost:3000', service.baseUrl));
  const pages = join(root, 'packages/react/test/system/pages.ts');
  const withProvider = `
    import { browserStorage, createClient } from '@dure/client';
    import { DureProvider } from '@dure/react';
    const client = createClient({ baseUrl: '${service.baseUrl}', storage: browserStorage() });
    globalThis.dure = client;
    const show = (type) => createRoot(place).render(strict(DureProvider, { client }, createElement(type)));`;
  const scripts: Record<string, string> = {
    '/': await bundle(`import App from './app.tsx'; createRoot(place).render(strict(App));`),
    '/log-in': await bundle(`${withProvider} import { LogIn } from './log-in.tsx'; show(LogIn);`),
    '/account': await bundle(`${withProvider} import { Account } from '${pages}'; show(Account);`),
    '/hydrated': await bundle(`
      import { renderToString } from 'react-dom/server.browser';
      import App from './app.tsx';
      place.innerHTML = globalThis.html = renderToString(strict(App));
      globalThis.mismatches = [];
      const onRecoverableError = ({ message }) => mismatches.push(message);
      hydrateRoot(place, strict(App), { onRecoverableError });`),
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
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
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

  t.test('the ten lines: login, feed, and notifications that change the page', async (t) => {
    const cafe = createClient({ baseUrl: service.baseUrl });
    const account = { username: 'dure_cafe', password: 'gimbap-and-coffee-7' };
    await cafe.auth.signUp({ ...account, name: '김두레', email: 'dure_cafe@example.com' });
    await cafe.auth.logIn(account);
    await cafe.stores.create({ name: '두레 카페', category_ids: [1] });
    const post = await cafe.posts.create({ title: '꽃집을 찾아요', content: '함께 팔아요.', images });
    const florist = await openShop(service, '골목 꽃집');

    const openPage = await openContext(t);
    const page = await openPage('/');
    const shows = (what: RegExp) =>
      until(String(what), async () => what.test(await page.locator('#root').innerText()));
    await page.getByRole('button').click();
    await shows(/^알림 0\s+꽃집을 찾아요$/);
    const { id } = await florist.dure.partnerRequests.create({ post_id: post.id, message: '함께해요' });
    await shows(/^알림 1/);
    await florist.dure.posts.create({ title: '카페를 찾아요', content: '함께 팔아요.', images });
    await florist.dure.partnerRequests.withdraw({ partner_request_id: id });
    await shows(/^알림 2\s+카페를 찾아요\s+꽃집을 찾아요$/);

    // The form of the README, in another tab.
    const other = await openPage('/log-in');
    const [username, secret] = [other.locator('[name=username]'), other.locator('[name=password]')];
    await username.fill(florist.username);
    await secret.fill('not the password');
    await other.getByRole('button').click();
    t.equal(await other.getByRole('alert').innerText(), '아이디 또는 비밀번호가 올바르지 않습니다.');
    await secret.fill(password);
    await other.getByRole('button').click();
    await shows(/^알림 0\s+카페를 찾아요/);
    await other.evaluate('dure.auth.logOut()');
    await shows(/^로그인$/);
  });

  t.test('an account sees nothing of another one', async (t) => {
    const [one, two] = [await openShop(service, '가 가게'), await openShop(service, '나 가게')];
    const post = await one.dure.posts.create({ title: '나 가게를 찾아요', content: '함께 팔아요.', images });
    await two.dure.partnerRequests.create({ post_id: post.id, message: '함께해요' });
    const openPage = await openContext(t);
    const page = await openPage('/account');
    const signIn = ({ username }: { username: string }) =>
      page.evaluate(`dure.auth.logIn(${JSON.stringify({ username, password })})`);
    const shown = () => page.evaluate<Shown[]>('shown');
    const shows = (what: string, condition: (last: Shown) => boolean) =>
      until(what, async () => (await shown()).slice(-1).some(condition));

    await signIn(one);
    await shows('all of the first account', ({ store, unreadCount, posts, name }) => {
      return (
        store === '가 가게' &&
        name === '김두레' &&
        unreadCount === 1 &&
        posts.join() === '나 가게를 찾아요,나 가게를 찾아요'
      );
    });
    await page.evaluate(`rename({ name: '새 이름' })`);
    await shows('the change', ({ name, renamed }) => name === '새 이름' && renamed === '새 이름');
    // Through the client itself, in another tab.
    const other = await openPage('/account');
    await other.evaluate(`dure.auth.updateCurrentUser({ name: '또 다른 이름' })`);
    await shows('that change', ({ name }) => name === '또 다른 이름');
    await other.close();
    await signIn(two);
    await shows('all of the second account', ({ store, name, renamed, kept }) => {
      const isOwn = kept.every((id) => id === two.user.id);
      return store === '나 가게' && name === '김두레' && renamed === undefined && isOwn;
    });
    // Nothing waits for the network, to be sent for the account of that time.
    await page.context().setOffline(true);
    await page.evaluate(`rename({ name: '못 보낸 이름' })`);
    await shows('the error', ({ failed }) => failed);
    await page.context().setOffline(false);
    await page.evaluate('dure.auth.logOut()');
    await shows('the end', ({ status, reason, failed, kept }) => {
      return status === 'signed_out' && reason === 'logged_out' && !failed && kept.every((id) => id === null);
    });

    // Not even for a moment.
    const all = await shown();
    t.ok(all.every(({ skipped }) => skipped));
    const later = all.slice(all.findIndex(({ userId }) => userId === two.user.id));
    const found = later.map(({ store, name, unreadCount }) => ({ store, name, unreadCount }));
    const own = { store: '나 가게', name: '김두레', unreadCount: 0 };
    t.ok(found.length > 1);
    for (const one of found) t.same({ ...own, ...JSON.parse(JSON.stringify(one)) }, own);
    t.same(found.at(-1), { store: undefined, name: undefined, unreadCount: 0 });
  });

  t.test('a notification reads again what it touches, an outage everything', async (t) => {
    const { dure, username } = await openShop(service, '마 가게');
    const post = await dure.posts.create({ title: '바 가게를 찾아요', content: '함께 팔아요.', images });
    const sender = await openShop(service, '바 가게');
    const page = await (await openContext(t))('/account');
    let reads: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'GET') reads.push(new URL(request.url()).pathname);
    });
    await page.evaluate(`dure.auth.logIn(${JSON.stringify({ username, password })})`);
    const shows = (what: string, condition: (last: Shown) => boolean) =>
      until(what, async () => (await page.evaluate<Shown[]>('shown')).slice(-1).some(condition));
    await shows('the page', ({ store, name, live }) => store !== undefined && !!name && live === 'open');
    reads = [];
    const request = await sender.dure.partnerRequests.create({ post_id: post.id, message: '함께해요' });
    await until('what it touches', () => reads.includes('/api/v1/stores/mypage/'));
    t.notOk(
      reads.some((path) => path === '/auth/me/' || path.includes('categories')),
      reads.join(' '),
    );
    reads = [];
    service.app.server.closeAllConnections();
    await until('everything', () => reads.includes('/auth/me/') && reads.includes('/api/v1/stores/mypage/'));
    t.notOk(reads.some((path) => path.includes('categories')));

    // Another language is no outage.
    await shows('the stream', ({ live }) => live === 'open');
    reads = [];
    await page.evaluate(`dure.setLanguage('en')`);
    await until('the new stream', () => reads.includes('/api/v1/notifications/stream/'));
    await shows('it', ({ live }) => live === 'open');
    await sender.dure.partnerRequests.withdraw({ partner_request_id: request.id });
    await until('what it touches', () => reads.includes('/api/v1/stores/mypage/'));
    t.notOk(reads.includes('/auth/me/'), reads.join(' '));
  });

  t.test('a user who sends a form again after a lost response creates one post', async (t) => {
    const { dure, username } = await openShop(service, '사 가게');
    const page = await (await openContext(t))('/account');
    await page.evaluate(`dure.auth.logIn(${JSON.stringify({ username, password })})`);
    const shows = (what: string, condition: (last: Shown) => boolean) =>
      until(what, async () => (await page.evaluate<Shown[]>('shown')).slice(-1).some(condition));
    await shows('the page', ({ store }) => store === '사 가게');
    const keys = new Set<string | undefined>();
    const lose = async (route: Route) => {
      if (!/한 번만/.test(route.request().postData() ?? '')) return route.fallback();
      keys.add(route.request().headers()['idempotency-key']);
      await route.fetch();
      await route.abort();
    };
    await page.route('**/api/v1/posts/', lose);
    const write = (title: string) =>
      page.evaluate(`write(${JSON.stringify({ title, content: '내용', images })})`);
    await write('한 번만');
    await shows('the error', ({ written }) => written === 'error');
    await page.unroute('**/api/v1/posts/', lose);
    await write('다른 글');
    await shows('the success', ({ written }) => written === 'success');
    const isAnswer = (response: Response) => /한 번만/.test(response.request().postData() ?? '');
    const [response] = await Promise.all([page.waitForResponse(isAnswer), write('한 번만')]);
    keys.add(response.request().headers()['idempotency-key']);
    t.equal(keys.size, 1, 'also after another form has succeeded');
    t.equal((await dure.posts.list({ mine: true })).items.length, 2);
  });

  t.test('a first read that began before a change is read again', async (t) => {
    const { dure, username } = await openShop(service, '다 가게');
    const page = await (await openContext(t))('/account');
    let [isRead, isChanged] = [false, false];
    const hold = async (route: Route) => {
      const response = await route.fetch();
      isRead = true;
      await until('the change', () => isChanged);
      await route.fulfill({ response });
    };
    await page.route('**/mypage/', hold, { times: 1 });
    await page.evaluate(`dure.auth.logIn(${JSON.stringify({ username, password })})`);
    await until('the first read', () => isRead);
    await dure.stores.updateOwn({ name: '라 가게' });
    await page.evaluate(`rename({ name: '새 이름' })`);
    const shows = (what: string, condition: (last: Shown) => boolean) =>
      until(what, async () => (await page.evaluate<Shown[]>('shown')).slice(-1).some(condition));
    await shows('the change', ({ renamed }) => renamed === '새 이름');
    isChanged = true;
    await shows('the new name', ({ store }) => store === '라 가게');
  });

  t.test('a page that a server has rendered is hydrated as it is', async (t) => {
    const { username } = await openShop(service, '다 가게');
    const openPage = await openContext(t);
    const other = await openPage('/account');
    await other.evaluate(`dure.auth.logIn(${JSON.stringify({ username, password })})`);
    const page = await openPage('/hydrated');
    t.equal(await page.evaluate('html'), '<main>알림 <!-- -->0<!-- --> </main>');
    await until('the feed', () => page.locator('main p').count());
    t.same(await page.evaluate('mismatches'), []);
  });

  t.test('neither React nor the browser complains', async (t) => {
    t.same(problems, []);
  });
});
