import type { Response, Route } from 'playwright-core';
import t from 'tap';
import { password } from '../../../../test/support/app.ts';
import { noBrowser } from '../../../../test/support/browser.ts';
import { until } from '../../../../test/support/until.ts';
import { createClient, images, openShop } from '../../../client/test/clients.ts';
import type { Shown } from './pages.ts';
import { shownOn, signIn, startSite } from './site.ts';

t.test('in a browser', { skip: noBrowser }, async (t) => {
  const { service, openContext, problems } = await startSite(t);

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
    const shows = shownOn(page);

    await signIn(page, one);
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
    await signIn(page, two);
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
    const all = await page.evaluate<Shown[]>('shown');
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
    await signIn(page, { username });
    const shows = shownOn(page);
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
    await signIn(page, { username });
    const shows = shownOn(page);
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
    let [isRead, isChanged, isAnswered] = [false, false, false];
    const hold = async (route: Route) => {
      const response = await route.fetch();
      isRead = true;
      await until('the change', () => isChanged);
      await route.fulfill({ response });
      isAnswered = true;
    };
    await page.route('**/mypage/', hold, { times: 1 });
    await signIn(page, { username });
    await until('the first read', () => isRead);
    await dure.stores.updateOwn({ name: '라 가게' });
    await page.evaluate(`rename({ name: '새 이름' })`);
    const shows = shownOn(page);
    await shows('the change', ({ renamed }) => renamed === '새 이름');
    isChanged = true;
    await until('the old answer', () => isAnswered);
    await shows('the new name', ({ store }) => store === '라 가게');
  });

  t.test('a page that a server has rendered is hydrated as it is', async (t) => {
    const { username } = await openShop(service, '다 가게');
    const openPage = await openContext(t);
    const other = await openPage('/account');
    await signIn(other, { username });
    const page = await openPage('/hydrated');
    t.equal(await page.evaluate('html'), '<main>알림 <!-- -->0<!-- --> </main>');
    await until('the feed', () => page.locator('main p').count());
    t.same(await page.evaluate('mismatches'), []);
  });

  t.test('neither React nor the browser complains', async (t) => {
    t.same(problems, []);
  });
});
