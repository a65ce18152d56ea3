import t from 'tap';
import { codeIn, password, type TestApp } from '../../../../test/support/app.ts';
import { noBrowser } from '../../../../test/support/browser.ts';
import { gate } from '../../../../test/support/concurrency.ts';
import { openTwoShops, requestPartnership } from '../../../../test/support/partner-requests.ts';
import { createPost, openShop } from '../../../../test/support/stores.ts';
import { until } from '../../../../test/support/until.ts';
import { startExample } from '../frontend.ts';
import { enterCode, fillPost, logInAs, requestCode } from '../steps.ts';
import { violations, visitsTo } from '../visitor.ts';

const posts = '**/api/v1/posts/';

t.test('forms of the example', { skip: noBrowser }, async (t) => {
  const example = await startExample(t);
  const { pool, call } = example;
  const app: TestApp = example;
  const visit = visitsTo(example);

  t.test('what was typed is offered to its own account only', async (t) => {
    const { sender, post } = await openTwoShops(app);
    const other = await openShop(app, '골목 꽃집');
    const { page } = await visit(t, sender.username, `/posts/${post.id}`);
    await page.getByLabel('보낼 메시지').fill('제 번호는 010-1234-5678입니다.');
    await page.goto('/account');
    const name = page.getByLabel('이름', { exact: true });
    await name.fill('비밀 이름');
    await page.reload();
    await until('the draft', async () => (await name.inputValue()) === '비밀 이름');
    await page.getByRole('button', { name: '로그아웃', exact: true }).click();
    await page.getByRole('link', { name: '무료로 시작하기' }).waitFor();
    const stored = 'JSON.stringify(sessionStorage)';
    t.notMatch(await page.evaluate<string>(stored), '010-1234-5678', 'a logout removes it');
    await logInAs(page, other.username, `/posts/${post.id}`);
    t.equal(await page.getByLabel('보낼 메시지').inputValue(), '');
    await page.getByLabel('보낼 메시지').fill('다른 가게의 글');
    await page.goto('/account');
    await page.getByText(other.username, { exact: true }).waitFor();
    t.equal(await name.inputValue(), '김두레');

    // Its session ends elsewhere: what it typed waits for it.
    await pool.query('DELETE FROM sessions WHERE user_id = $1', [other.id]);
    await page.reload();
    await page.getByLabel('아이디 또는 이메일').waitFor();
    t.match(await page.evaluate<string>(stored), '다른 가게의 글');
    await logInAs(page, sender.username);
    t.notMatch(await page.evaluate<string>(stored), '다른 가게의 글', 'the next account removes it');
  });

  t.test('passwords are gone from a form once it was sent', async (t) => {
    const { username } = await openShop(app, '두레 책방');
    const { page } = await visit(t, username, '/account');
    const [current, next] = [page.getByLabel('현재 비밀번호'), page.getByLabel('새 비밀번호')];
    await current.fill('wrong');
    await next.fill('milk-and-honey-9');
    await page.getByRole('button', { name: '비밀번호 변경', exact: true }).click();
    await page.getByText('비밀번호가 올바르지 않습니다').first().waitFor();
    t.equal(await next.inputValue(), 'milk-and-honey-9', 'nothing typed is lost by an error');
    await current.fill(password);
    await page.getByRole('button', { name: '비밀번호 변경', exact: true }).click();
    await page.getByText('비밀번호를 변경했습니다').waitFor();
    for (const field of [current, next])
      await until('an empty field', async () => (await field.inputValue()) === '');
    t.pass('both are empty');
  });

  t.test('a lost answer publishes a post once, also after a reload', async (t) => {
    const { username, store } = await openShop(app, '두레 카페');
    const { page } = await visit(t, username, '/posts/new');
    await fillPost(page, '한 번만 올릴 글');
    await page.route(posts, async (route) => {
      if (route.request().method() === 'POST') await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: '글 올리기' }).click();
    await page.getByText('서버에 연결하지 못했습니다').first().waitFor();
    await page.unroute(posts);
    await page.reload();
    await page.getByRole('button', { name: '글 올리기' }).click();
    await page.getByRole('heading', { name: '한 번만 올릴 글', level: 1 }).waitFor();
    const { rows } = await pool.query('SELECT FROM posts WHERE store_id = $1', [store.id]);
    t.equal(rows.length, 1);
  });

  t.test('nothing can be typed while a form is sent, and what was corrected is not red', async (t) => {
    const { username } = await openShop(app, '두레 카페');
    const { page } = await visit(t, username, '/posts/new');
    const title = page.getByLabel('제목');
    await page.getByRole('button', { name: '글 올리기' }).click();
    await page.locator('input[aria-invalid="true"]').waitFor();
    t.equal(await title.getAttribute('aria-invalid'), 'true');
    await title.fill('고친 제목');
    await page.locator('input[aria-invalid="true"]').waitFor({ state: 'detached' });
    await page.getByLabel('내용').fill('내용');
    const { open, opened } = gate();
    await page.route(posts, async (route) => {
      await opened;
      await route.continue();
    });
    await page.getByRole('button', { name: '글 올리기' }).click();
    await page.getByRole('button', { name: '글 올리기 처리하는 중…' }).waitFor();
    t.notOk(await title.isEnabled());
    open();
    await page.getByRole('heading', { name: '고친 제목', level: 1 }).waitFor();
  });

  t.test('two tabs edit a store: both texts are shown, and nothing is overwritten', async (t) => {
    const { username, token } = await openShop(app, '두레 카페', { address: '옛 주소 (망원동)' });
    const { page, context } = await visit(t);
    await context.grantPermissions(['geolocation']);
    await context.setGeolocation({ latitude: 37.5563, longitude: 126.9019 });
    await logInAs(page, username, '/store/edit');
    const about = page.getByLabel('가게 소개');
    await about.fill('내가 쓴 소개');
    await page.getByRole('button', { name: '현재 위치로 설정' }).click();
    await page.getByText('위치가 설정되어 있습니다').waitFor();
    await page.reload();
    await page.getByText('위치가 설정되어 있습니다').waitFor();
    t.equal(await about.inputValue(), '내가 쓴 소개', 'the draft has the location, too');

    const changed = { description: '다른 탭의 소개', address: '새 주소 (망원동)' };
    await call('PATCH', '/api/v1/stores/me/', { token, body: changed });
    await page.getByRole('button', { name: '저장', exact: true }).click();
    await page.getByText('어느 쪽으로 이어서 쓸지').waitFor();
    await page.getByText('가게 소개: 내가 쓴 것').waitFor();
    await page.getByText('다른 탭의 소개').waitFor();
    t.equal(await page.getByLabel('주소').inputValue(), changed.address, 'not touched here, so merged');
    t.strictSame(await violations(page), []);
    const read = async () => (await call('GET', '/api/v1/stores/me/', { token })).body.data;
    t.equal((await read()).description, '다른 탭의 소개');
    await page.getByRole('button', { name: '내가 쓴 것으로 계속' }).click();
    await page.getByRole('button', { name: '저장', exact: true }).click();
    await page.getByRole('heading', { name: '두레 카페', level: 1 }).waitFor();
    await page.getByText('내가 쓴 소개').waitFor();
    t.match(await read(), { description: '내가 쓴 소개', address: changed.address });

    // A draft of an older version is offered beside the newer one.
    await page.goto('/store/edit');
    await about.fill('두 번째 소개');
    await page.goto('/store');
    await page.getByText('내가 쓴 소개').waitFor();
    await call('PATCH', '/api/v1/stores/me/', { token, body: { description: '더 새로운 소개' } });
    await page.goto('/store/edit');
    await page.getByText('더 새로운 소개').first().waitFor();
    await page.getByRole('button', { name: '지금 것으로 바꾸기' }).click();
    t.equal(await about.inputValue(), '더 새로운 소개');
  });

  t.test('an empty sign-up marks all its fields and logs nobody in', async (t) => {
    const { page } = await visit(t);
    const logins: string[] = [];
    page.on('request', (request) => request.url().includes('/auth/login/') && logins.push(request.url()));
    await page.goto('/signup');
    await page.getByRole('button', { name: '인증번호 받기' }).click();
    await page.getByText('빨간색으로 표시된 곳을 확인해 주세요').waitFor();
    for (const name of ['name', 'email', 'username', 'password']) {
      t.equal(await page.locator(`input[name="${name}"]`).getAttribute('aria-invalid'), 'true', name);
    }
    t.strictSame(logins, []);
  });

  t.test('new requests wait, accepting asks once, and an error without a field names no red', async (t) => {
    const { sender, receiver, post } = await openTwoShops(app);
    const third = await openShop(app, '골목 꽃집');
    await requestPartnership(app, sender, post);
    const { page } = await visit(t, receiver.username, '/requests');
    const accept = page.getByRole('button', { name: '수락하기 두레 베이커리' });
    await accept.waitFor();
    const before = await accept.boundingBox();
    const waiting = page.getByRole('button', { name: '새 요청 1건' });
    // A toast is gone after a few seconds.
    await Promise.all([
      page.locator('.toast').waitFor(),
      waiting.waitFor(),
      requestPartnership(app, third, post),
    ]);
    t.equal(await page.getByRole('button', { name: '수락하기 골목 꽃집' }).count(), 0);
    t.equal((await accept.boundingBox())?.y, before?.y, 'nothing has moved');
    await page.getByRole('button', { name: '새 요청 1건' }).click();
    await page.getByRole('button', { name: '수락하기 골목 꽃집' }).waitFor();
    await accept.click();
    const dialog = page.getByRole('dialog', { name: '두레 베이커리의 요청을 수락할까요?' });
    await dialog.getByText(receiver.email).waitFor();
    const { rows } = await pool.query("SELECT FROM partner_requests WHERE status = 'requested'");
    t.equal(rows.length, 2, 'nothing is shared before');
    await dialog.getByRole('button', { name: '취소' }).click();
    await dialog.waitFor({ state: 'detached' });
    await accept.and(page.locator(':focus')).waitFor();

    await page.goto('/?near=abc');
    await page.getByRole('button', { name: '다시 시도' }).waitFor();
    t.equal(await page.getByText('빨간색').count(), 0);
    await page.goto('/posts/abc');
    await page.getByRole('heading', { name: '페이지를 찾을 수 없습니다' }).waitFor();
    const foreign = await createPost(app, sender.token, { title: '남의 글' });
    await page.goto(`/posts/${foreign.id}/edit`);
    await page.getByText('직접 쓴 글만 수정할 수 있습니다').waitFor();
  });
});

t.test('a sign-up that needs a verified address', { skip: noBrowser }, async (t) => {
  const example = await startExample(t, { EMAIL_VERIFICATION: 'required' });
  const { mails, pool } = example;
  const visit = visitsTo(example);
  await openShop(example, '두레 카페');
  await pool.query("UPDATE users SET username = 'taken_name'");
  const sent = (email: string) => mails.sent.filter(({ to }) => to === email).length;

  t.test('keeps its proof and its entries when the username is taken', async (t) => {
    const visitor = await visit(t, 'taken_name');
    const { page } = visitor;
    const wrong = { ...visitor, email: 'wrong@example.com' };
    const right = 'right@example.com';
    await requestCode(wrong);
    await page.getByRole('button', { name: '이메일 주소 고치기' }).click();
    await page.getByLabel('이메일').fill(right);
    t.not(await page.getByLabel('비밀번호', { exact: true }).inputValue(), '', 'nothing else is lost');
    await page.getByRole('button', { name: '인증번호 받기' }).click();
    const code = codeIn(await mails.next(right));
    await enterCode(page, code);
    const username = page.getByLabel('아이디', { exact: true });
    await username.and(page.locator('[aria-invalid="true"]')).waitFor();
    t.equal(await username.inputValue(), 'taken_name');
    t.equal(await page.getByLabel('이름', { exact: true }).inputValue(), visitor.name);
    await username.fill('free_name');
    t.notMatch(await page.evaluate<string>('JSON.stringify(sessionStorage)'), password);
    await page.getByRole('button', { name: '회원가입', exact: true }).click();
    await page.getByRole('heading', { name: '제휴 글 둘러보기', level: 1 }).waitFor();
    t.equal(sent(right), 1, 'with one code');
    const { rows } = await pool.query('SELECT is_verified FROM users WHERE username = $1', ['free_name']);
    t.strictSame(rows, [{ is_verified: true }]);
  });

  t.test('goes on when the link is opened in another tab', async (t) => {
    const visitor = await visit(t, 'link_opener');
    const { page, context, email } = visitor;
    await requestCode(visitor);
    const mail = await mails.next(email);
    const tab = await context.newPage();
    await tab.goto(/^http\S+\/verify-email\?\S+$/m.exec(mail.text)?.[0] ?? '');
    await tab.getByRole('button', { name: '이 주소로 가입하기' }).click();
    await page.getByRole('heading', { name: '제휴 글 둘러보기', level: 1 }).waitFor();
    await tab.getByRole('heading', { name: '제휴 글 둘러보기', level: 1 }).waitFor();
    t.pass('both tabs are signed in');
  });
});
