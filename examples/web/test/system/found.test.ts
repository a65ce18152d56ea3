import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import t from 'tap';
import { pushesOf } from '../../../../test/push/subscribed.ts';
import { codeIn, createUser, password } from '../../../../test/support/app.ts';
import { noBrowser } from '../../../../test/support/browser.ts';
import { createStore } from '../../../../test/support/stores.ts';
import { until } from '../../../../test/support/until.ts';
import { startExample } from '../frontend.ts';
import { openPhone, type Phone } from '../phone.ts';
import { enterCode, fillPost, fillSignUp, logInAs, logOut, registerStore } from '../steps.ts';
import { stepsOf, violations } from '../visitor.ts';

const alerts = '/account/alerts';
const title = '봄꽃을 함께 팔 카페를 찾습니다';
const terms = { TERMS_VERSION: '2026-01-31', TERMS_URL: 'https://dure.example/terms' };

const story =
  'a florist moves in, the cafe around the corner finds it, and both get a push at the right hour';
t.test(story, { skip: noBrowser }, async (t) => {
  const example = await startExample(t, terms, { hasWindow: true });
  const pushes = await pushesOf(t, example);
  const { api, mails, pool } = example;
  const subscriptions = async () => (await pool.query('SELECT FROM push_subscriptions')).rows.length;
  const step = stepsOf(t);
  const open = (username: string, name: string, latitude: number) => {
    const place = { latitude, longitude: 126.9019 };
    return openPhone({ username, name }, { ...example, pushService: pushes.service, place });
  };
  const cafe = await open('dure_cafe', '김두레', 37.5563);
  const flower = await open('golmok_flower', '이꽃님', 37.5592);

  await step('the cafe saves a search near its place, and switches push messages on', async (t) => {
    const { page, username, email } = cafe;
    const { token } = await createUser(example, { username, email });
    await createStore(example, token);
    await logInAs(page, username);
    await page.getByRole('button', { name: '조건' }).click();
    await page.getByRole('button', { name: '내 주변' }).click();
    await page.getByText('찾으시는 글이 없습니다').waitFor();
    await page.getByLabel('업종').selectOption('꽃·식물');
    await page.getByRole('button', { name: '이 조건으로 알림 받기' }).click();
    t.equal(await page.getByLabel('검색 이름').inputValue(), '꽃·식물 · 주변 3km');
    t.strictSame(await violations(page), []);
    await page.getByRole('button', { name: '저장', exact: true }).click();
    await page.getByText('검색 조건을 저장했습니다').waitFor();
    await switchPushOn(cafe);
    await page.getByRole('link', { name: '꽃·식물 · 주변 3km' }).waitFor();
    t.strictSame(await violations(page), []);
  });

  await step('the florist signs up, agrees to the terms, and registers its store where it is', async (t) => {
    const { page, email } = flower;
    await fillSignUp(flower);
    await page.getByLabel('만 14세 이상입니다').check();
    await page.getByRole('button', { name: '인증번호 받기', exact: true }).click();
    await page.getByLabel('이용약관').and(page.locator(':focus')).waitFor();
    t.strictSame(await violations(page), []);
    await page.getByLabel('이용약관').check();
    await page.getByLabel('광고성 정보').check();
    await page.getByRole('button', { name: '인증번호 받기', exact: true }).click();
    await enterCode(page, codeIn(await mails.next(email)));
    await registerStore(flower, '골목 꽃집', '꽃·식물', async () => {
      await page.getByRole('button', { name: '현재 위치로 설정' }).click();
      await page.getByText('위치가 설정되어 있습니다').waitFor();
    });
    await switchPushOn(flower);
    await setQuietHours(flower, hoursAroundNow());
  });

  await step('the cafe gets a push message, whose notification leads to the post', async (t) => {
    const { page } = flower;
    await page.goto('/posts/new');
    await fillPost(page, title);
    await page.getByLabel('마감일').fill('2099-12-31');
    await page.getByLabel('사진 추가').setInputFiles([await uprightPhoto(), unreadable]);
    await page.getByText('iPhone의 설정 > 카메라 > 포맷').waitFor();
    await page.locator('progress').waitFor({ state: 'detached' });
    await page.getByRole('navigation', { name: '주 메뉴' }).getByRole('link', { name: '내 가게' }).click();
    await page.getByRole('heading', { name: '골목 꽃집', level: 1 }).waitFor();
    await page.goBack();
    await until('what was typed', async () => (await page.getByLabel('제목').inputValue()) === title);
    await page.getByRole('button', { name: '글 올리기', exact: true }).click();
    await page.getByText('12월 31일 마감').waitFor();
    await page.getByRole('img', { name: '사진 1' }).waitFor();
    const { rows } = await pool.query('SELECT width, height FROM images');
    t.strictSame(rows, [{ width: 180, height: 320 }], 'upright, as it was taken');
    t.equal(await page.getByRole('img', { name: '사진 2' }).count(), 0);
    const notification = await cafe.showPush();
    t.match(notification, { title: '저장한 검색에 맞는 새 글', data: { url: page.url() } });
    t.match(notification.body, `골목 꽃집에서 저장하신 검색 조건에 맞는 ‘${title}’`);
    t.equal(await cafe.pressNotification(), page.url());
    await cafe.page.goto('/notifications');
    await cafe.page.getByRole('link', { name: title }).click();
    await cafe.page.getByRole('heading', { name: title, level: 1 }).waitFor();
  });

  await step('the cafe sends the florist around the corner a request and reports its post', async (t) => {
    const { page } = cafe;
    await page.goto(alerts);
    await page.getByRole('link', { name: '꽃·식물 · 주변 3km' }).click();
    await page.getByText('골목 꽃집 · 걸어서 5분').waitFor();
    const image = page.locator('.post-card img');
    await image.scrollIntoViewIfNeeded();
    await image.evaluate('(image) => image.decode()');
    t.match(await image.getAttribute('src'), /-480\.webp$/);
    await page.getByRole('link', { name: title }).click();
    await page.getByLabel('보낼 메시지').fill('저희 카페에서 함께 팔아요.');
    await page.getByRole('button', { name: '요청 보내기', exact: true }).click();
    await page.getByText('골목 꽃집에 제휴 요청을 보냈습니다').waitFor();
    await page.getByRole('button', { name: '공유하기' }).click();
    await page.getByText('링크를 복사했습니다').waitFor();
    await page.getByRole('button', { name: '신고하기' }).click();
    const dialog = page.getByRole('dialog', { name: '신고하기' });
    await dialog.getByLabel('사기나 거짓 정보').check();
    t.strictSame(await violations(page), []);
    await dialog.getByRole('button', { name: '신고하기' }).click();
    await page.getByText('신고를 접수했습니다').waitFor();
    const { rows } = await pool.query('SELECT reason FROM reports');
    t.strictSame(rows, [{ reason: 'fraud' }]);
    await page.goto('/posts/999999');
    await page.getByText('삭제되었거나 더 이상 공개되지 않는 글입니다').waitFor();
  });

  await step('the florist gets its push message when its quiet hours end', async (t) => {
    await flower.page.locator('.badge').getByText('1', { exact: true }).waitFor();
    t.equal((await pushes.settled()).length, 1);
    t.equal(flower.browser.attempts, 0);
    await setQuietHours(flower, ['', '']);
    await pushes.makeDue();
    t.match(await flower.showPush(), { title: '새 제휴 요청', data: { url: /\/requests\/\d+$/ } });
  });

  await step('the florist closes its post, and the cafe wants no more push messages', async (t) => {
    const { page } = flower;
    await page.goto('/store');
    await page.getByRole('link', { name: title }).click();
    await page.getByRole('link', { name: '수정', exact: true }).click();
    await page.getByLabel('마감하고 새 요청').check();
    await pool.query('UPDATE posts SET updated_at = now()');
    await page.getByRole('button', { name: '저장', exact: true }).click();
    await page.getByText('그사이 다른 곳에서 내용이 바뀌었습니다').waitFor();
    await page.reload();
    await page.getByLabel('마감하고 새 요청').check();
    await page.getByRole('button', { name: '저장', exact: true }).click();
    await page.getByText('마감', { exact: true }).waitFor();
    await cafe.page.goto(alerts);
    await cafe.page.getByRole('button', { name: '푸시 알림 끄기' }).click();
    await cafe.page.getByRole('button', { name: '푸시 알림 켜기' }).waitFor();
    await cafe.page.getByRole('button', { name: /^삭제 꽃/ }).click();
    await cafe.page.getByRole('dialog').getByRole('button', { name: '삭제', exact: true }).click();
    await cafe.page.getByText('저장한 검색이 없습니다').waitFor();
    const { rows } = await pool.query('SELECT endpoint FROM push_subscriptions');
    t.strictSame(rows, [{ endpoint: flower.browser.subscription.endpoint }]);
  });

  await step('a logout ends push messages, and a login of the same account begins them again', async () => {
    const { page, username } = flower;
    await logOut(page);
    await until('their end', async () => (await subscriptions()) === 0);
    await logInAs(flower.page, username);
    await until('their start', async () => (await subscriptions()) === 1);
  });

  await step('another account ends push messages, and the tabs begin them again', async (t) => {
    const { page, context, username } = flower;
    const other = await createUser(example);
    const tab = await context.newPage();
    // A page without a client, whose refresh could be what sets the cookie last.
    await tab.goto('/icon.svg');
    await tab.evaluate(logInElsewhere(api, other.username));
    await until('their end', async () => (await subscriptions()) === 0);
    await tab.goto('/');
    await page.goto('/account');
    await page.getByRole('button', { name: '로그아웃', exact: true }).click();
    await tab.getByRole('link', { name: '무료로 시작하기' }).waitFor();
    await logInAs(flower.page, username);
    await tab.getByRole('navigation', { name: '주 메뉴' }).waitFor();
    for (const one of [page, tab]) {
      await one.evaluate(`navigator.locks.request('dure.push-for', () => true)`);
    }
    t.equal(await subscriptions(), 1);
    for (const one of [page, tab]) {
      await one.goto(alerts);
      await one.getByRole('button', { name: '푸시 알림 끄기' }).waitFor();
    }
    await tab.close();
  });

  await step('the florist withdraws what it agreed to, and downloads its data', async (t) => {
    const { page, username } = flower;
    await page.goto('/account');
    await page.getByRole('button', { name: '철회하기' }).click();
    await page.getByText('철회:').waitFor();
    t.strictSame(await violations(page), []);
    await pool.query("UPDATE sessions SET created_at = created_at - interval '11 minutes'");
    await page.getByRole('button', { name: '내 정보 내려받기' }).click();
    const confirmation = page.getByRole('dialog', { name: '본인 확인' });
    await confirmation.getByLabel('비밀번호', { exact: true }).fill(password);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      confirmation.getByRole('button', { name: '확인하기' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    for (const part of [username, title, 'marketing']) t.match(text, part);
  });
});

/** As a phone stores it: lying on its side, with a note that it has to be turned. */
async function uprightPhoto() {
  const drawing = sharp({ create: { width: 320, height: 180, channels: 3, background: '#b93f1d' } });
  const buffer = await drawing.withMetadata({ orientation: 6 }).jpeg().toBuffer();
  return { name: 'flower.jpg', mimeType: 'image/jpeg', buffer };
}

/** What Chromium cannot decode. */
const unreadable = { name: 'flower.heic', mimeType: 'image/heic', buffer: Buffer.from('ftypheic') };

/** Logs in to another account of the service from another page of the site, of which the tabs of the app only learn the account. */
function logInElsewhere(api: string, username: string): string {
  const headers = { 'content-type': 'application/json', 'x-refresh-token': 'cookie' };
  const init = { method: 'POST', credentials: 'include', headers };
  const body = JSON.stringify({ username, password });
  return `fetch('${api}/auth/login/', ${JSON.stringify({ ...init, body })})
    .then((response) => response.json())
    .then(({ data }) => localStorage.setItem('dure', data.user.id))`;
}

async function switchPushOn({ page }: Phone): Promise<void> {
  await page.goto(alerts);
  await page.getByRole('button', { name: '푸시 알림 켜기' }).click();
  await page.getByRole('button', { name: '푸시 알림 끄기' }).waitFor();
}

async function setQuietHours({ page }: Phone, [from, to]: [from: string, to: string]): Promise<void> {
  await page.goto(alerts);
  await page.getByLabel('시작 (선택)').fill(from);
  await page.getByLabel('종료 (선택)').fill(to);
  await page.getByRole('button', { name: '저장', exact: true }).click();
  await page.getByText('알림 설정을 변경했습니다').waitFor();
}

/** In Korea, from and to an hour from now. */
function hoursAroundNow(): [from: string, to: string] {
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  return [inHours(8), inHours(10)];
}
