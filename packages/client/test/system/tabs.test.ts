import type { Page } from 'playwright-core';
import t from 'tap';
import { streamPath } from '../../../../test/notifications/streams.ts';
import { noBrowser } from '../../../../test/support/browser.ts';
import { until } from '../../../../test/support/until.ts';
import { evaluate, startBrowser } from './site.ts';

const refreshPath = '/auth/token/refresh/';

t.test('tabs of one browser', { skip: noBrowser }, async (t) => {
  const { service, openBrowser } = await startBrowser(t);

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

  t.test('a page that comes back from the back/forward cache goes on', async (t) => {
    const { first, openTab, notify } = await openBrowser(t);
    const other = await openTab();
    await subscribe(first);
    await evaluate(first, 'void (globalThis.isSame = true)');
    await first.goto(`${service.baseUrl}/health/live`);
    await notify(2);
    // A browser drops a page from the cache when a message arrives for it.
    await evaluate(other, `dure.auth.updateCurrentUser({ name: '새 이름' }).then(() => true)`);
    await first.goBack({ waitUntil: 'commit' });
    t.equal(await evaluate(first, 'globalThis.isSame'), true, 'the page was kept');
    await until('what was missed', () => evaluate(first, 'ids.length === 2'));
    t.equal(await evaluate(first, `statuses.at(-1)`), 'open');
  });
});

/** Subscribes in a tab, and waits until it has a stream or follows that of another tab. */
async function subscribe(tab: Page): Promise<void> {
  await evaluate(tab, 'void subscribe()');
  await until('a stream', () => evaluate(tab, `statuses.at(-1) === 'open'`));
}
