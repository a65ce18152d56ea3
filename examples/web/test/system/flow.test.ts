import sharp from 'sharp';
import t from 'tap';
import { noBrowser } from '../../../../test/support/browser.ts';
import { gate } from '../../../../test/support/concurrency.ts';
import { openTwoShops, requestPartnership } from '../../../../test/support/partner-requests.ts';
import { createPost, openShop } from '../../../../test/support/stores.ts';
import { until } from '../../../../test/support/until.ts';
import { startExample } from '../frontend.ts';
import { fillPost, fillSignUp, logInAs } from '../steps.ts';
import { violations, visitsTo } from '../visitor.ts';

async function photo(background: string) {
  const create = { width: 60, height: 40, channels: 3 as const, background };
  return { name: 'photo.png', mimeType: 'image/png', buffer: await sharp({ create }).png().toBuffer() };
}

t.test('ways through the example', { skip: noBrowser }, async (t) => {
  const example = await startExample(t, {
    TERMS_VERSION: '2026-01-31',
    TERMS_URL: 'https://dure.example/terms',
  });
  const { call } = example;
  const { sender, receiver, post } = await openTwoShops(example);
  const visit = visitsTo(example);

  t.test('the language changes without a reload, and keeps what was typed', async (t) => {
    const { page } = await visit(t, receiver.username, '/posts/new');
    await page.getByLabel('제목').fill('쓰던 제목');
    await page.evaluate('window.same = true');
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Write a post', level: 1 }).waitFor();
    t.equal(await page.getByLabel('Title').inputValue(), '쓰던 제목');
    t.equal(await page.evaluate('window.same'), true);
    t.equal(await page.locator('html').getAttribute('lang'), 'en');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Check what is marked in red').waitFor();
    t.match(await page.locator('.field-error').first().textContent(), /[a-z]/, 'the service follows');
  });

  t.test('one press agrees to all, and marketing that was never given is not withdrawn', async (t) => {
    const visitor = await visit(t, 'consenting');
    const { page } = visitor;
    await fillSignUp(visitor);
    await page.getByLabel('전체 동의').check();
    t.ok(await page.getByLabel('이용약관').isChecked());
    t.ok(await page.getByLabel('광고성 정보').isChecked());
    await page.getByLabel('광고성 정보').uncheck();
    t.notOk(await page.getByLabel('전체 동의').isChecked());
    await page.getByRole('button', { name: '인증번호 받기' }).click();
    await page.getByRole('button', { name: '나중에 인증하기' }).click();
    await page.getByRole('navigation', { name: '주 메뉴' }).getByRole('link', { name: '계정' }).click();
    await page.getByRole('link', { name: '광고성 정보 메일 수신' }).waitFor();
    t.equal(await page.getByText('철회:').count(), 0);
    t.equal(await page.getByRole('link', { name: '지금 인증하기' }).count(), 0, 'on the page that does it');
  });

  t.test('an accepted request leads to the contact; only mobile numbers take messages', async (t) => {
    const setPhone = (phone_number: string) =>
      call('PATCH', '/api/v1/stores/me/', { token: sender.token, body: { phone_number } });
    await setPhone('02-123-4567');
    await requestPartnership(example, sender, post);
    const { page } = await visit(t, receiver.username, '/notifications');
    await page.getByRole('button', { name: '수락하기' }).click();
    await page.getByRole('dialog').getByRole('button', { name: '수락하기' }).click();
    await page.getByRole('link', { name: '연락처 보기' }).click();
    await page.getByRole('link', { name: '전화', exact: true }).waitFor();
    t.equal(await page.getByRole('link', { name: '문자' }).count(), 0);
    await setPhone('010-1234-5678');
    await page.reload();
    await page.getByRole('link', { name: '문자' }).waitFor();
  });

  t.test('what waits behind the button for new notifications is not marked as read', async (t) => {
    const [first, second] = [await openShop(example, '골목 꽃집'), await openShop(example, '동네 책방')];
    await requestPartnership(example, first, post);
    const { page } = await visit(t, receiver.username, '/notifications');
    await page.getByRole('button', { name: '수락하기 골목 꽃집' }).waitFor();
    await requestPartnership(example, second, post);
    await page.getByRole('button', { name: '새 알림 1건' }).waitFor();
    await page.getByRole('button', { name: '모두 읽음' }).click();
    await page.getByRole('button', { name: '모두 읽음' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: '새 알림 1건' }).click();
    await page.getByRole('button', { name: '수락하기 동네 책방' }).waitFor();
    t.equal(await page.getByRole('button', { name: '읽음으로 표시', exact: true }).count(), 1);
  });

  t.test('blocked storage hides nothing, and the language still changes', async (t) => {
    const { page, context } = await visit(t);
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    await context.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError'); } });`);
    await logInAs(page, receiver.username, '/account/alerts');
    await page.getByRole('heading', { name: '알림 설정', level: 1 }).waitFor();
    await logInAs(page, receiver.username, '/posts/new');
    await page.getByLabel('제목').fill('제목');
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Write a post', level: 1 }).waitFor();
    t.strictSame(errors, []);
  });

  t.test('an upload goes on while a change of language shows the form again', async (t) => {
    const { page } = await visit(t, receiver.username, '/posts/new');
    const { open, opened } = gate();
    await page.route('**/api/v1/images/', async (route) => {
      await opened;
      await route.continue();
    });
    await page.getByLabel('사진 추가').setInputFiles([await photo('#b93f1d')]);
    await page.locator('.upload img[src^="blob:"]').waitFor();
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Write a post', level: 1 }).waitFor();
    open();
    await page.locator('.upload img[src^="http"]').waitFor();
    await page.reload();
    await page.locator('.upload img[src^="http"]').waitFor();
    t.pass('and its draft has the photo');
  });

  t.test('photos are sent again, and change places', async (t) => {
    const { page } = await visit(t, receiver.username, '/posts/new');
    const images = '**/api/v1/images/';
    await page.route(images, (route) => route.abort(), { times: 1 });
    await page.getByLabel('사진 추가').setInputFiles([await photo('#b93f1d'), await photo('#1f6f4a')]);
    await page.getByRole('button', { name: '다시 시도 사진 1' }).click();
    await page.getByRole('button', { name: '다시 시도 사진 1' }).waitFor({ state: 'detached' });
    await until('both uploads', async () => (await page.locator('progress').count()) === 0);
    const shown = () =>
      page.evaluate<string[]>("[...document.querySelectorAll('.upload img')].map((image) => image.src)");
    const before = await shown();
    t.ok(before.every((src) => src.startsWith('http')));
    await page.getByRole('button', { name: '앞으로 사진 2' }).click();
    t.strictSame(await shown(), [...before].reverse());
    t.strictSame(await violations(page), []);
    await fillPost(page, '사진 글');
    await page.getByRole('button', { name: '글 올리기' }).click();
    await page.getByRole('heading', { name: '사진 글', level: 1 }).waitFor();
    const links = "[...document.querySelectorAll('.gallery a')].map((link) => link.href)";
    t.strictSame(await page.evaluate(links), [...before].reverse());
  });

  t.test('a shared post explains its login; filters fold away; an error stays', async (t) => {
    const { page } = await visit(t);
    const shared = await createPost(example, sender.token, { title: '나누는 글' });
    await page.goto(`/posts/${shared.id}`);
    await page.getByText('이웃 가게의 제휴 글입니다').waitFor();
    await page.goto('/posts/new');
    await page.getByLabel('아이디 또는 이메일').waitFor();
    t.equal(
      await page.getByText('이웃 가게의 제휴 글').count(),
      0,
      'the own post of a session that has ended',
    );
    await logInAs(page, receiver.username);
    const region = page.getByRole('combobox', { name: /동네/ });
    const filters = page.getByRole('button', { name: '조건' });
    await filters.waitFor();
    t.notOk(await region.isVisible());
    await filters.click();
    await region.fill('없는동네');
    await page.keyboard.press('Enter');
    await page.getByText('동이나 구의 이름으로 찾아 주세요').waitFor();
    // No permission for the place: the reason is red and stays.
    await page.getByRole('button', { name: '내 주변' }).click();
    await page.getByRole('alert').getByText('위치').waitFor();
    await page.locator('.toast.error').waitFor();
  });

  t.test('quiet hours need both times', async (t) => {
    const { page } = await visit(t, receiver.username, '/account/alerts');
    await page.getByLabel('시작 (선택)').fill('22:00');
    await page.getByRole('button', { name: '저장', exact: true }).click();
    await page.getByText('시작과 종료를 모두 입력해 주세요').first().waitFor();
    t.equal(await page.getByLabel('종료 (선택)').getAttribute('aria-invalid'), 'true');
  });
});
