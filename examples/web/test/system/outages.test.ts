import t from 'tap';
import { noBrowser } from '../../../../test/support/browser.ts';
import { gate } from '../../../../test/support/concurrency.ts';
import { openTwoShops, requestPartnership } from '../../../../test/support/partner-requests.ts';
import { createPost, openShop } from '../../../../test/support/stores.ts';
import { startExample } from '../frontend.ts';
import { visitsTo } from '../visitor.ts';

t.test('the example without a network, and on a slow one', { skip: noBrowser }, async (t) => {
  const example = await startExample(t);
  const shop = await openShop(example, '두레 카페');
  for (let n = 1; n <= 30; n += 1) await createPost(example, shop.token, { title: `글 ${n}` });
  const visit = visitsTo(example);

  t.test('something is drawn before the script has loaded', async (t) => {
    const { page } = await visit(t);
    await page.route('**/*.js', () => undefined);
    await page.goto('/', { waitUntil: 'commit' });
    await page.locator('#app .brand').waitFor();
    await page.locator('#app .skeleton').first().waitFor();
    t.pass('the bar and grey boxes');
  });

  t.test('a page whose code cannot be loaded has a way back, and loads once it can', async (t) => {
    const { page } = await visit(t, shop.username, '/');
    const code = /\/assets\/(?:account|sessions|alerts)-.*\.js$/;
    await page.route(code, (route) => route.abort());
    await page.getByRole('link', { name: '계정' }).click();
    await page.getByRole('heading', { name: '화면을 표시하지 못했습니다' }).waitFor();
    await page.getByRole('navigation', { name: '주 메뉴' }).waitFor();
    await page.getByRole('link', { name: '두레 첫 화면' }).first().waitFor();
    await page.unroute(code);
    await page.getByRole('button', { name: '다시 시도' }).click();
    await page.getByRole('heading', { name: '계정', level: 1 }).waitFor();
    t.pass('inside the shell');
  });

  t.test('a list that failed recovers when the stream opens; what waits to be sent says so', async (t) => {
    const { page, context } = await visit(t, shop.username, '/');
    await page.getByText('글 30', { exact: true }).waitFor();
    const service = `${example.api}/**`;
    await page.route(service, (route) => route.abort());
    await page.reload();
    await page.getByRole('button', { name: '다시 시도' }).first().waitFor();
    await page.unroute(service);
    await page.getByText('글 30', { exact: true }).waitFor();
    t.pass('without a press');

    await page.getByRole('link', { name: '계정' }).click();
    await page.getByLabel('이름', { exact: true }).fill('새 이름');
    await context.setOffline(true);
    await page.getByRole('button', { name: '저장', exact: true }).click();
    await page.getByText('인터넷에 연결되면 바로 보냅니다').waitFor();
    await context.setOffline(false);
    await page.getByText('내 정보를 수정했습니다').waitFor();
    t.pass('and is sent then');
  });

  t.test('what was cancelled is not sent, and what failed after its dialog was closed says so', async (t) => {
    const { sender, receiver, post } = await openTwoShops(example);
    await requestPartnership(example, sender, post);
    const { page, context } = await visit(t, receiver.username, '/requests');
    const accept = page.getByRole('button', { name: /^수락하기/ });
    const dialog = page.getByRole('dialog');
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await accept.click();
    await context.setOffline(true);
    await dialog.getByRole('button', { name: '수락하기' }).click();
    await dialog.getByText('인터넷에 연결되면 바로 보냅니다').waitFor();
    await dialog.getByRole('button', { name: '취소' }).click();
    await dialog.waitFor({ state: 'detached' });
    await context.setOffline(false);
    await page.locator('.banner.offline').waitFor({ state: 'detached' });

    const { open, opened } = gate();
    await page.route('**/decline/', async (route) => {
      await opened;
      await route.abort();
    });
    await page.getByRole('button', { name: /^거절하기/ }).click();
    await dialog.getByRole('button', { name: '거절하기' }).click();
    await dialog.getByText('처리하는 중').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    open();
    await page.locator('.toast.error').getByText('서버에 연결하지 못했습니다').waitFor();
    const actions = sent.map((url) => /\/(accept|decline)\/$/.exec(url)?.[1]).filter(Boolean);
    t.strictSame(actions, ['decline']);
  });

  t.test('Back keeps the search, the pages and the place; the tabs keep the search', async (t) => {
    const { page } = await visit(t, shop.username, '/?q=글');
    await page.getByRole('button', { name: '더 보기' }).click();
    const last = page.getByRole('link', { name: '글 1', exact: true });
    await last.click();
    await page.getByRole('heading', { name: '글 1', level: 1 }).waitFor();
    await page.getByRole('link', { name: '제휴 글 둘러보기' }).click();
    await last.waitFor();
    t.equal(new URL(page.url()).search, `?q=${encodeURIComponent('글')}`);
    await page.waitForFunction('scrollY > 300');
    await page.getByRole('link', { name: '가게', exact: true }).click();
    await page.getByRole('heading', { name: '가게 둘러보기' }).waitFor();
    t.equal(await page.getByRole('searchbox', { name: '가게 검색' }).inputValue(), '글');
  });
});
