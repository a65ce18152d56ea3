import { once } from 'node:events';
import type { Locator, Page } from 'playwright-core';
import t from 'tap';
import { createTestApp, type Mails } from '../../support/app.ts';
import { launchBrowser, noBrowser } from '../../support/browser.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { serveFrontend } from './frontend.ts';
import { violationsForOther, violationsForOwner, violationsForVisitor } from './pages.ts';
import { openVisitor, registerStore, signUp, writePost } from './visitor.ts';

const title = '꽃집과 어버이날 세트를 만들고 싶습니다';
const newPassword = 'songpyeon-and-tea-8';

t.test('two shops find each other in the example frontend', { skip: noBrowser }, async (t) => {
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const apiPort = await freePort();
  const api = `http://localhost:${apiPort}`;
  const { app, mails, close } = await createTestApp({
    FRONTEND_URL: origin,
    CORS_ORIGINS: origin,
    PUBLIC_URL: api,
  });
  t.teardown(close);
  await app.listen({ port: apiPort });
  const frontend = await serveFrontend(port, api);
  t.teardown(frontend.close);
  const cafe = await openVisitor(browser, origin, { username: 'dure_cafe', name: '김두레' });
  const flower = await openVisitor(browser, origin, { username: 'golmok_flower', name: '이꽃님' });

  await t.test('the cafe signs up with the mailed code, registers its store and writes a post', async (t) => {
    await signUp(cafe, mails);
    await registerStore(cafe, '두레 카페', '카페');
    await writePost(cafe, title);
    t.match(await cafe.page.title(), title);
    await cafe.page.goto('/account');
    await cafe.page.getByText('인증됨').waitFor();
    t.pass('the code has verified the address');
  });

  await t.test('the flower shop finds the post by search and sends a request', async (t) => {
    await signUp(flower, mails, 'link');
    await registerStore(flower, '골목 꽃집', '꽃·식물');
    const { page } = flower;
    const typed = new AbortController();
    await page.route('**/stores/categories/', async (route) => {
      if (!typed.signal.aborted) await once(typed.signal, 'abort');
      await route.continue();
    });
    await page.getByRole('link', { name: '둘러보기' }).click();
    await page.getByRole('searchbox', { name: '글에서 찾기' }).fill('떡집');
    typed.abort();
    await page.getByRole('option', { name: '카페' }).waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    await page.getByText('찾으시는 글이 없습니다').waitFor();
    await page.getByRole('searchbox', { name: '글에서 찾기' }).fill('어버이날');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: title }).click();
    t.equal(await unreadBadge(cafe.page).count(), 0);
    await page.getByRole('button', { name: '요청 보내기', exact: true }).click();
    const message = page.getByLabel('보낼 메시지');
    await page.locator('textarea:focus').waitFor();
    t.match(await descriptionOf(message), '내용을 입력해 주세요', 'what is wrong is tied to its input');
    await message.fill('저희 꽃으로 함께 만들어요.');
    await page.getByRole('button', { name: '요청 보내기', exact: true }).click();
    await page.getByRole('link', { name: '보낸 요청 보기' }).click();
    await page.getByText('답 기다리는 중').waitFor();
  });

  await t.test(
    'the cafe sees the badge without a reload, and accepts; the flower shop sees that, too',
    async (t) => {
      await unreadBadge(cafe.page).getByText('1', { exact: true }).waitFor();
      await cafe.page.getByRole('link', { name: '알림' }).click();
      await cafe.page.getByText('저희 꽃으로 함께 만들어요.').waitFor();
      await cafe.page.getByRole('button', { name: '수락하기', exact: true }).click();
      await flower.page.getByRole('article').getByText('수락됨').waitFor();
      await flower.page.getByRole('status').getByText('두레 카페에서 수락했습니다').waitFor();
      await unreadBadge(cafe.page).waitFor({ state: 'detached' });
      t.pass('answering a request marks its notification as read');
    },
  );

  await t.test('the two see how to reach each other until one of them ends the partnership', async (t) => {
    await flower.page.getByRole('link', { name: '연락처를 확인하고' }).click();
    await flower.page.getByRole('link', { name: cafe.email }).waitFor();
    const picture = flower.page.locator('.post-card img');
    await picture.scrollIntoViewIfNeeded();
    await picture.evaluate('(image) => image.decode()');
    t.match(await picture.getAttribute('src'), /-480\.webp$/, 'the post with its uploaded picture');
    await cafe.page.goto('/partners');
    await cafe.page.getByRole('link', { name: flower.email }).waitFor();
    await flower.page.getByRole('button', { name: '제휴 끝내기' }).click();
    await flower.page.getByRole('dialog').getByRole('button', { name: '제휴 끝내기' }).click();
    await flower.page.getByText('종료됨').waitFor();
    t.equal(await flower.page.getByRole('link', { name: cafe.email }).count(), 0);
    await cafe.page.getByText('아직 제휴한 가게가 없습니다').waitFor();
    t.pass('the partner has left the open list');
    await flower.page.goto('/requests?box=sent');
    await flower.page.getByText('종료됨').waitFor();
  });

  await t.test(
    'the flower shop resets its password by the mailed link; its open page asks for a login',
    async (t) => {
      const tab = await flower.context.newPage();
      await tab.goto('/reset-password-request');
      await tab.getByLabel('이메일').fill(flower.email);
      await tab.getByRole('button', { name: '링크 받기', exact: true }).click();
      const link = await until('a mail with the link', () => resetLink(mails, flower.email));
      await tab.goto(link);
      await tab.getByLabel('새 비밀번호', { exact: true }).fill(newPassword);
      await tab.getByRole('button', { name: '비밀번호 바꾸기', exact: true }).click();
      await tab.getByRole('heading', { name: '로그인', level: 1 }).waitFor();
      await tab.close();
      const { page } = flower;
      await page.getByText('로그아웃되었습니다').waitFor();
      await logInByKeyboard(page, flower.username, newPassword);
      await page.getByRole('heading', { name: '제휴 요청', level: 1 }).waitFor();
      t.match(page.url(), /\/requests\?box=sent$/, 'the login leads back to where the user was');
      t.equal(await page.locator('h1:focus').count(), 1, 'the heading has the focus after a navigation');
    },
  );

  await t.test('no page violates a rule of axe, in light and dark', async (t) => {
    await cafe.page.goto('/');
    const post = (await cafe.page.getByRole('link', { name: title }).getAttribute('href')) ?? '';
    const visitor = await openVisitor(browser, origin, { username: 'visitor', name: '손님' });
    const found = await Promise.all([
      violationsForOwner(cafe.page, post),
      violationsForOther(flower.page, post),
      violationsForVisitor(visitor.page),
    ]);
    t.strictSame(found.flat(), []);
  });

  await t.test('after a logout, a page of the account leads to the login', async (t) => {
    const { page } = cafe;
    await page.goto('/account');
    await page.getByRole('button', { name: '로그아웃', exact: true }).click();
    await page.getByRole('link', { name: '무료로 시작하기' }).waitFor();
    await page.goto('/requests');
    await page.getByRole('heading', { name: '로그인', level: 1 }).waitFor();
    t.match(page.url(), '/login?next=%2Frequests');
  });
});

function resetLink({ sent }: Mails, email: string): string | undefined {
  const texts = sent.filter(({ to }) => to === email).map(({ text }) => text);
  return /http:\/\/localhost\S+\/reset-password\?\S+/.exec(texts.join('\n'))?.[0];
}

/** What screen readers read after the label. */
async function descriptionOf(input: Locator): Promise<string> {
  const ids = (await input.getAttribute('aria-describedby')) ?? '';
  const texts = ids.split(' ').map((id) => input.page().locator(`[id="${id}"]`).textContent());
  return (await Promise.all(texts)).join(' ');
}

function unreadBadge(page: Page) {
  return page.getByRole('navigation', { name: '주 메뉴' }).locator('.badge');
}

/** The skip link leads past the header, so that the next stop is the first input. */
async function logInByKeyboard(page: Page, username: string, secret: string): Promise<void> {
  await page.reload();
  await page.getByLabel('아이디 또는 이메일').waitFor();
  for (const step of ['Tab', 'Enter', 'Tab', username, 'Tab', secret, 'Enter']) {
    if (step === 'Tab' || step === 'Enter') await page.keyboard.press(step);
    else await page.keyboard.type(step);
  }
}
