import { once } from 'node:events';
import type { Locator, Page } from 'playwright-core';
import t from 'tap';
import { codeIn, type Mails } from '../../../../test/support/app.ts';
import { noBrowser } from '../../../../test/support/browser.ts';
import { until } from '../../../../test/support/until.ts';
import { startExample } from '../frontend.ts';
import { enterCode, fillPost, logOut, registerStore, requestCode } from '../steps.ts';
import { openVisitor, stepsOf, type Visitor, violations } from '../visitor.ts';

const title = '꽃집과 어버이날 세트를 만들고 싶습니다';
/** Those that need no login. */
const publicPages = [
  ...['/', '/login', '/login/callback', '/signup', '/find-id', '/reset-password-request'],
  ...['/reset-password?uid=a&token=b', '/verify-email?token=a', '/undo-email-change?token=a'],
];
const newPassword = 'songpyeon-and-tea-8';

t.test('two shops find each other in the example frontend', { skip: noBrowser }, async (t) => {
  const { browser, origin, mails } = await startExample(t);
  const cafe = await openVisitor(browser, origin, { username: 'dure_cafe', name: '김두레' });
  const flower = await openVisitor(browser, origin, { username: 'golmok_flower', name: '이꽃님' });
  const step = stepsOf(t);

  await step('the cafe signs up with the mailed code, registers its store and writes a post', async (t) => {
    await signUp(cafe, mails);
    await registerStore(cafe, '두레 카페', '카페');
    await cafe.page.getByRole('link', { name: '글쓰기' }).click();
    await fillPost(cafe.page, title);
    await cafe.page.getByRole('button', { name: '글 올리기', exact: true }).click();
    await until('the title', async () => (await cafe.page.title()).includes(title));
    await cafe.page.goto('/account');
    await cafe.page.getByText('인증됨').waitFor();
    t.pass('the code has verified the address');
  });

  await step('the flower shop finds the post by search and sends a request', async (t) => {
    await signUp(flower, mails, 'link');
    await registerStore(flower, '골목 꽃집', '꽃·식물');
    const { page } = flower;
    const typed = new AbortController();
    await page.route('**/stores/categories/', async (route) => {
      if (!typed.signal.aborted) await once(typed.signal, 'abort');
      await route.continue();
    });
    await page.getByRole('link', { name: '둘러보기' }).click();
    await page.getByRole('button', { name: '조건' }).click();
    await page.getByRole('searchbox', { name: '글 검색' }).fill('떡집');
    typed.abort();
    await page.getByRole('option', { name: '카페' }).waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    await page.getByText('찾으시는 글이 없습니다').waitFor();
    await page.getByRole('searchbox', { name: '글 검색' }).fill('어버이날');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: title }).click();
    t.equal(await unreadBadge(cafe.page).count(), 0);
    await page.getByRole('button', { name: '요청 보내기', exact: true }).click();
    const message = page.getByLabel('보낼 메시지');
    await page.locator('textarea:focus').waitFor();
    t.match(await descriptionOf(message), '내용을 입력해 주세요', 'what is wrong is tied to its input');
    await message.fill('저희 꽃으로 함께 만들어요.');
    await page.getByRole('button', { name: '요청 보내기', exact: true }).click();
    await page.locator('a[href^="/requests/"]', { hasText: '보낸 요청 보기' }).click();
    await page.getByText('답 기다리는 중').waitFor();
  });

  await step('the cafe accepts without a reload, which the flower shop sees', async (t) => {
    await unreadBadge(cafe.page).getByText('1', { exact: true }).waitFor();
    await mainMenu(cafe.page).getByRole('link', { name: '알림' }).click();
    await cafe.page.getByText('저희 꽃으로 함께 만들어요.').waitFor();
    const accept = async () => {
      await cafe.page.getByRole('button', { name: '수락하기' }).first().click();
      const dialog = cafe.page.getByRole('dialog');
      await dialog.getByText('상대 가게에 내 이름, 전화번호, 이메일이 보입니다').waitFor();
      await dialog.getByRole('button', { name: '수락하기' }).click();
    };
    await Promise.all([
      flower.page.getByRole('status').getByText('두레 카페에서 수락했습니다').waitFor(),
      flower.page.getByText('수락됨', { exact: true }).waitFor(),
      accept(),
    ]);
    await unreadBadge(cafe.page).waitFor({ state: 'detached' });
    t.pass('answering a request marks its notification as read');
  });

  await step('the two see how to reach each other until one of them ends the partnership', async (t) => {
    await flower.page.getByRole('link', { name: cafe.email }).waitFor();
    // Not by a page load, after which its stream would have to open before the partnership ends.
    await mainMenu(cafe.page).getByRole('link', { name: '제휴 요청' }).click();
    await cafe.page.getByRole('link', { name: '제휴 가게', exact: true }).click();
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

  await step('the flower shop resets its password by link; its open page asks for a login', async (t) => {
    const tab = await flower.context.newPage();
    await tab.goto('/reset-password-request');
    await tab.getByLabel('이메일').fill(flower.email);
    await tab.getByRole('button', { name: '링크 받기', exact: true }).click();
    const sent = () => mails.sent.filter(({ to }) => to === flower.email).map(({ text }) => text);
    const found = () => /http:\/\/localhost\S+\/reset-password\?\S+/.exec(sent().join('\n'))?.[0];
    const link = await until('an email with the link', found);
    const requests: string[] = [];
    tab.on('request', (request) => requests.push(request.url()));
    await tab.goto(link);
    await tab.getByLabel('새 비밀번호', { exact: true }).fill(newPassword);
    await tab.getByRole('button', { name: '비밀번호 바꾸기', exact: true }).click();
    await tab.getByRole('heading', { name: '로그인', level: 1 }).waitFor();
    const validations = requests.filter((url) => url.includes('/reset-password-validate/'));
    t.equal(validations.length, 1, 'a used link is not asked for again');
    await tab.close();
    const { page } = flower;
    await page.getByText('로그아웃되었습니다').waitFor();
    await logInByKeyboard(page, flower.username, newPassword);
    await page.getByRole('heading', { name: '제휴 요청', level: 1 }).waitFor();
    t.match(page.url(), /\/requests\?box=sent$/, 'the login leads back to where the user was');
    await page.locator('h1:focus').waitFor();
    t.pass('the heading has the focus after a navigation');
  });

  await step('no page violates a rule of axe, in light and dark', async (t) => {
    await cafe.page.goto('/');
    const post = (await cafe.page.getByRole('link', { name: title }).getAttribute('href')) ?? '';
    const visitor = await openVisitor(browser, origin, { username: 'visitor', name: '손님' });
    const found = await Promise.all([
      violationsForOwner(cafe.page, post),
      violationsForOther(flower.page, post),
      violationsAt(visitor.page, publicPages),
    ]);
    t.strictSame(found.flat(), []);
  });

  await step('after a logout, a page of the account leads to the login', async (t) => {
    const { page } = cafe;
    await logOut(page);
    await page.goto('/requests');
    await page.getByRole('heading', { name: '로그인', level: 1 }).waitFor();
    t.match(page.url(), '/login?next=%2Frequests');
    await page.goto('/find-id/');
    await page.getByRole('heading', { name: '아이디 찾기', level: 1 }).waitFor();
  });
});

/** What screen readers read after the label. */
async function descriptionOf(input: Locator): Promise<string> {
  const ids = (await input.getAttribute('aria-describedby')) ?? '';
  const texts = ids.split(' ').map((id) => input.page().locator(`[id="${id}"]`).textContent());
  return (await Promise.all(texts)).join(' ');
}

function mainMenu(page: Page) {
  return page.getByRole('navigation', { name: '주 메뉴' });
}

function unreadBadge(page: Page) {
  return mainMenu(page).locator('.badge');
}

/** The skip link leads past the header, so that the next stop is the first input. */
async function logInByKeyboard(page: Page, username: string, secret: string): Promise<void> {
  await page.reload();
  await page.getByLabel('아이디 또는 이메일').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('main:focus').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.type(username);
  await page.keyboard.press('Tab');
  await page.keyboard.type(secret);
  await page.keyboard.press('Enter');
}

/** Signs up with the code from the email, or with its link. */
async function signUp(visitor: Visitor, mails: Mails, proof: 'code' | 'link' = 'code'): Promise<void> {
  const { page, username, email } = visitor;
  await requestCode(visitor);
  await page.getByRole('heading', { name: '이메일 인증', level: 1 }).waitFor();
  const mail = await mails.next(email);
  if (proof === 'code') {
    await enterCode(page, codeIn(mail));
  } else {
    await page.goto(/^http\S+\/verify-email\?\S+$/m.exec(mail.text)?.[0] ?? '');
    await page.getByText(`아이디 ${username} 계정`).waitFor();
    await page.getByRole('button', { name: '이메일 인증하기', exact: true }).click();
    await page.getByText('이메일을 인증했습니다').waitFor();
    await page.goto('/');
  }
  await page.getByRole('heading', { name: '제휴 글 둘러보기', level: 1 }).waitFor();
}

/** What axe finds on the pages of a store that has written a post. */
async function violationsForOwner(page: Page, post: string): Promise<string[]> {
  const lists = ['/requests', '/partners', '/stores', '/notifications'];
  const own = ['/store', '/store/edit', '/account', '/account/alerts', '/account/login-methods', '/sessions'];
  const paths = ['/', `${post}/edit`, '/posts/new', ...lists, ...own, '/nowhere', post];
  const found = await violationsAt(page, paths);
  await page.getByRole('button', { name: '삭제', exact: true }).click();
  await page.getByRole('dialog').waitFor();
  return [...found, ...(await violations(page))];
}

/** What axe finds on the pages of another store: its request, the store of the post, and a form with what is wrong in it. */
async function violationsForOther(page: Page, post: string): Promise<string[]> {
  const found = await violationsAt(page, ['/requests?box=sent', post]);
  await page.getByRole('button', { name: '요청 보내기', exact: true }).click();
  await page.getByText('빨간색으로 표시된 곳을 확인해 주세요').waitFor();
  found.push(...(await violations(page)));
  await page.getByRole('link', { name: '두레 카페' }).click();
  await page.getByRole('region', { name: '가게 정보' }).waitFor();
  return [...found, ...(await violations(page))];
}

async function violationsAt(page: Page, paths: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    await page.goto(path);
    await page.locator('h1').waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    found.push(...(await violations(page)));
  }
  return found;
}
