import sharp from 'sharp';
import t from 'tap';
import { passConfirmation, secondFactorOf } from '../../../../test/auth/authenticator.ts';
import { codeIn, createUser } from '../../../../test/support/app.ts';
import { noBrowser } from '../../../../test/support/browser.ts';
import { requestPartnership } from '../../../../test/support/partner-requests.ts';
import { createPost, openShop } from '../../../../test/support/stores.ts';
import { until } from '../../../../test/support/until.ts';
import { hostAccount, startExample } from '../frontend.ts';
import { enterCode, enterLogin, logInAs, requestCode } from '../steps.ts';
import { violations, visitsTo } from '../visitor.ts';

t.test('photos, shared posts and what has expired in the example', { skip: noBrowser }, async (t) => {
  const example = await startExample(t, {}, { hasWindow: true });
  const { origin, call, mails, pool } = example;
  const shop = await openShop(example, '두레 카페');
  const visit = visitsTo(example);

  t.test('a photo is enlarged in a tab of its own', async (t) => {
    const images = [1, 2].map((one) => `https://cdn.example.com/${one}.png`);
    const post = await createPost(example, shop.token, { title: '사진 글', images });
    const { page, context } = await visit(t);
    const create = { width: 90, height: 160, channels: 3 as const, background: '#1f6f4a' };
    const body = await sharp({ create }).png().toBuffer();
    await context.route('https://cdn.example.com/*', (route) =>
      route.fulfill({ contentType: 'image/png', body }),
    );
    await logInAs(page, shop.username, `/posts/${post.id}`);
    const opened = context.waitForEvent('page');
    await page.getByRole('link', { name: '사진 2 크게 보기' }).click();
    const tab = await opened;
    await tab.waitForURL('https://cdn.example.com/2.png');
    t.equal(page.url(), `${origin}/posts/${post.id}`, 'the post stays where it was');
  });

  t.test('a page that is opened first has all its styles', async (t) => {
    const sender = await openShop(example, '골목 꽃집');
    for (const title of ['첫째 글', '둘째 글'])
      await requestPartnership(example, sender, await createPost(example, shop.token, { title }));
    const { page } = await visit(t);
    const language = page.getByRole('button', { name: 'English' });
    const border = () => language.evaluate<string, HTMLElement>('(one) => getComputedStyle(one).borderColor');
    await logInAs(page, shop.username);
    const atHome = await border();
    await page.goto('/notifications');
    await page.getByRole('button', { name: '수락하기' }).nth(1).waitFor();
    t.equal(await border(), atHome, 'the header looks the same on every page');
    const gap =
      'pair => pair[1].querySelector("h2").getBoundingClientRect().top - pair[0].lastElementChild.lastElementChild.getBoundingClientRect().bottom';
    const found = await page.evaluate<number>(`(${gap})([...document.querySelectorAll('.items > li')])`);
    t.ok(found >= 30, `entries are apart: ${found}`);
  });

  t.test('a post that was changed elsewhere is not deleted unseen', async (t) => {
    const post = await createPost(example, shop.token, { title: '옛 제목' });
    const { page } = await visit(t, shop.username, `/posts/${post.id}`);
    await page.getByRole('heading', { name: '옛 제목', level: 1 }).waitFor();
    await call('PATCH', `/api/v1/posts/${post.id}/`, { token: shop.token, body: { title: '새 제목' } });
    await page.getByRole('button', { name: '삭제', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: '글을 삭제할까요?' });
    await dialog.getByRole('button', { name: '삭제', exact: true }).click();
    await dialog.getByText('그사이 다른 곳에서 내용이 바뀌었습니다').waitFor();
    await page.locator('h1').getByText('새 제목').waitFor();
    const read = () => call('GET', `/api/v1/posts/${post.id}/`, { token: shop.token });
    t.equal((await read()).status, 200);
    await dialog.getByRole('button', { name: '삭제', exact: true }).click();
    await page.getByText('글을 삭제했습니다').waitFor();
    t.equal((await read()).status, 404);
  });

  t.test('a post that was deleted elsewhere leaves the list without a reload', async (t) => {
    const post = await createPost(example, shop.token, { title: '곧 지울 글' });
    const { page } = await visit(t, shop.username, '/');
    const link = page.getByRole('link', { name: '곧 지울 글' });
    await link.waitFor();
    await call('DELETE', `/api/v1/posts/${post.id}/`, { token: shop.token });
    await link.click();
    await page.getByText('삭제되었거나 더 이상 공개되지 않는 글입니다').waitFor();
    await page.getByRole('link', { name: '제휴 글 둘러보기' }).click();
    await page.getByRole('link', { name: '사진 글' }).waitFor();
    await link.waitFor({ state: 'detached' });
    t.pass('by the way back');
  });

  t.test('a login that took too long for its second step keeps the username', async (t) => {
    const user = await createUser(example);
    await secondFactorOf(example).switchOn(user);
    const { page } = await visit(t);
    await page.goto('/login');
    await enterLogin(page, user.username);
    await page.getByLabel('인증번호').fill('123456');
    await pool.query('DELETE FROM login_flows');
    await page.getByRole('button', { name: '로그인', exact: true }).click();
    await page.getByText('로그인 시간이 지났습니다. 비밀번호부터').waitFor();
    t.equal(await page.getByLabel('아이디 또는 이메일').inputValue(), user.username);
    t.strictSame(await violations(page), []);
  });

  t.test('a session that ends while a code is typed says so, and the code waits', async (t) => {
    const visitor = await visit(t, 'code_typist');
    const { page, username, email } = visitor;
    await requestCode(visitor);
    const code = codeIn(await mails.next(email));
    await page.getByLabel('인증번호').fill(code);
    const end = 'DELETE FROM sessions USING users u WHERE u.id = user_id AND username = $1';
    // Not before: the page learns of the end by itself, too, and has no form any more.
    await page.route('**/email-verify/confirm/', (route) =>
      pool.query(end, [username]).then(() => route.continue()),
    );
    await page.getByRole('button', { name: '인증하기', exact: true }).click();
    await page.getByText('로그인 시간이 지났습니다. 다시 로그인하시면').waitFor();
    await page.unroute('**/email-verify/confirm/');
    t.equal(await page.getByLabel('인증번호').count(), 0, 'it would be used up without a login');
    await page.locator('main').getByRole('link', { name: '로그인', exact: true }).click();
    await enterLogin(page, username);
    const field = page.getByLabel('인증번호');
    await until('the code', async () => (await field.inputValue()) === code);
    await page.getByRole('button', { name: '인증하기', exact: true }).click();
    await page.getByRole('heading', { name: '제휴 글 둘러보기', level: 1 }).waitFor();
    const { rows } = await pool.query('SELECT is_verified FROM users WHERE username = $1', [username]);
    t.strictSame(rows, [{ is_verified: true }]);
  });

  t.test('a code that no longer works says that a new one is needed', async (t) => {
    const visitor = await visit(t, 'late_typist');
    const { page, email } = visitor;
    await requestCode(visitor);
    const code = codeIn(await mails.next(email));
    await pool.query("UPDATE email_codes SET expires_at = now() - interval '1 s' WHERE email = $1", [email]);
    await enterCode(page, code);
    await page.getByText('시간이 지났거나').first().waitFor();
    t.equal(await page.getByLabel('인증번호').inputValue(), code);
  });

  t.test('a confirmation whose code cannot be loaded says so, and can be tried again', async (t) => {
    const user = await createUser(example);
    const { page } = await visit(t, user.username, '/account');
    await passConfirmation(example, user);
    const chunk = /\/assets\/confirmation-.*\.js$/;
    await page.route(chunk, (route) => route.abort());
    const download = page.getByRole('button', { name: '내 정보 내려받기' });
    await download.click();
    await page.getByText('화면의 일부를 불러오지 못했습니다').waitFor();
    await page.unroute(chunk);
    await download.click();
    await page.getByRole('dialog', { name: '본인 확인' }).waitFor();
    t.pass('without a reload');
  });

  t.test('a shared post shows its title to guests and to previews of its link', async (t) => {
    const post = await createPost(example, shop.token, { title: '빵 & 꽃 "함께" <b>' });
    const shown = '빵 &amp; 꽃 &quot;함께&quot; &lt;b&gt;';
    const read = async (id: number) => (await fetch(`${origin}/posts/${id}?from=kakao`)).text();
    await createUser(example, { username: hostAccount.SHARE_USERNAME });
    const own = `<meta property="og:title" content="${shown} · 두레 카페"`;
    await until('its title', async () => (await read(post.id)).includes(own));
    t.match(await read(999_999), '"og:title" content="두레', 'one that is gone');
    const { page } = await visit(t);
    await page.goto(`/posts/${post.id}`);
    await page.getByText('이웃 가게의 제휴 글 ‘빵 & 꽃 "함께" <b>’입니다').waitFor();
  });
});
