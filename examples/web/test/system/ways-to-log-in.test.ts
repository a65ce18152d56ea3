import { Secret, TOTP } from 'otpauth';
import type { Cookie, Page, Route } from 'playwright-core';
import t from 'tap';
import { codeIn, createUser, password } from '../../../../test/support/app.ts';
import { addAuthenticator, noBrowser } from '../../../../test/support/browser.ts';
import { createIdentityProvider, type ProviderAccount } from '../../../../test/support/identity-provider.ts';
import { startExample } from '../frontend.ts';
import { enterCode, enterLogin, logOut, registerStore } from '../steps.ts';
import { openVisitor, stepsOf, type Visitor, violations } from '../visitor.ts';

const loginMethods = '/account/login-methods';
/** No login or confirmation counts any more. */
const makeOld = "UPDATE sessions SET created_at = created_at - interval '11 minutes', confirmed_at = NULL";

t.test('two shops log in with Kakao and with a passkey in the example', { skip: noBrowser }, async (t) => {
  const kakao = await createIdentityProvider(t, 'kakao');
  const example = await startExample(t, { LOGIN_PROVIDERS: 'kakao', ...kakao.environment });
  const { browser, origin, api, mails, pool } = example;
  const cafe = await openShop({ username: 'dure_cafe', name: '김두레' });
  const flower = await openShop({ username: 'golmok_flower', name: '이꽃님' });
  const step = stepsOf(t);

  /** What browsers had before logouts. */
  const refreshCookies: Cookie[] = [];

  /** A shop in a browser of its own, with an authenticator that answers by itself. Records the responses that its scripts can read. */
  async function openShop(person: { username: string; name: string }) {
    const visitor = await openVisitor(browser, origin, person);
    const { page } = visitor;
    await addAuthenticator(page);
    const bodies: Promise<string>[] = [];
    page.on('response', (response) => {
      // A stream ends with its page.
      if (!response.url().startsWith(`${api}/auth/`) || response.status() === 303) return;
      bodies.push(response.text().catch(() => ''));
    });
    return { ...visitor, bodies };
  }

  /** Presses the button on the login page, and agrees at Kakao. */
  async function logInWithKakao({ page }: Visitor, account: ProviderAccount, next = '/'): Promise<void> {
    await page.goto(`/login?next=${encodeURIComponent(next)}`);
    await agreeAtKakao(page, account);
    await page.getByRole('button', { name: '카카오 로그인', exact: true }).click();
  }

  /** The page of Kakao, which leads to the callback at once. */
  async function agreeAtKakao(page: Page, account: ProviderAccount): Promise<void> {
    const answer = (route: Route) => {
      const query = new URLSearchParams(kakao.logIn(route.request().url(), account));
      const location = `${api}/auth/providers/kakao/callback/?${query}`;
      return route.fulfill({ status: 302, headers: { location } });
    };
    await page.route(`${kakao.url}/authorize?*`, answer, { times: 1 });
  }

  async function addPasskey({ page }: Visitor): Promise<void> {
    await page.goto(loginMethods);
    await page.getByText('아직 등록한 패스키가 없습니다').waitFor();
    await page.getByRole('button', { name: '패스키 추가', exact: true }).click();
    await page.getByRole('button', { name: '이름 변경' }).waitFor();
  }

  async function leave(visitor: Visitor): Promise<void> {
    refreshCookies.push(...(await visitor.context.cookies(api)));
    await logOut(visitor.page);
  }

  await step('the cafe signs up with Kakao, which has proved its address', async (t) => {
    const { page, username, email, name } = cafe;
    await logInWithKakao(cafe, { id: '1001', email, name });
    await page.getByText(`${email} 주소를 확인했습니다`).waitFor();
    t.equal(await page.getByLabel('이름', { exact: true }).inputValue(), name);
    await page.getByLabel('아이디', { exact: true }).fill(username);
    await page.getByRole('button', { name: '회원가입', exact: true }).click();
    await registerStore(cafe, '두레 카페', '카페');
  });

  await step('the flower shop signs up with Kakao, and proves its address with the code', async (t) => {
    const { page, username, email, name } = flower;
    await logInWithKakao(flower, { id: '1002', email, name, isEmailProved: false });
    await page.getByLabel('아이디', { exact: true }).fill(username);
    await page.reload();
    t.equal(await page.getByLabel('아이디', { exact: true }).inputValue(), username, 'survives a reload');
    await page.getByRole('button', { name: '인증번호 받기', exact: true }).click();
    const code = codeIn(await mails.next(email));
    await page.getByLabel('인증번호').waitFor();
    await page.reload();
    await enterCode(page, ` ${code.slice(0, 3)} ${code.slice(3)}`);
    await registerStore(flower, '골목 꽃집', '꽃·식물');
    await page.goto('/account');
    await page.getByText('인증됨').waitFor();
    t.pass('the code has verified the address that Kakao had not');
  });

  await step('both add a passkey, log out, and log in with it', async (t) => {
    await Promise.all([addPasskey(cafe), addPasskey(flower)]);
    await Promise.all([leave(cafe), leave(flower)]);
    await cafe.page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
    await cafe.page.goto('/login?next=/sessions');
    await cafe.page.getByRole('button', { name: '패스키로 로그인', exact: true }).click();
    await cafe.page.getByText('로그인 방법: 패스키').waitFor();
    t.pass('by the button');
    await flower.page.goto('/login?next=/sessions');
    await flower.page.getByText('로그인 방법: 패스키').waitFor();
    t.pass('by the autofill, which the authenticator answers by itself');
  });

  await step('the cafe switches the second factor on, and logs in with it', async (t) => {
    const { page } = cafe;
    await page.goto(loginMethods);
    await page.getByRole('button', { name: '2단계 인증 켜기' }).click();
    await page.getByRole('img', { name: 'QR 코드' }).waitFor();
    const secret = (await page.locator('dd code').innerText()).replaceAll(' ', '');
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    t.strictSame(await violations(page), []);
    await page.getByLabel('인증번호').fill(totp.generate());
    await page.getByRole('button', { name: '2단계 인증 켜기' }).click();
    const recoveryCode = await page.locator('.recovery-codes code').first().innerText();
    await page.getByRole('button', { name: '보관했습니다' }).click();
    await page.getByText('남은 복구 코드 10개').waitFor();

    await leave(cafe);
    await logInWithKakao(cafe, { id: '1001', email: cafe.email }, '/sessions');
    await page.getByRole('heading', { name: '2단계 인증', level: 1 }).waitFor();
    await page.getByLabel('인증번호').fill('000000');
    await page.getByRole('button', { name: '로그인', exact: true }).click();
    await page.getByText('인증번호가 올바르지 않습니다').first().waitFor();
    t.strictSame(await violations(page), []);
    await page.getByRole('button', { name: '복구 코드 사용' }).click();
    await page.getByLabel('복구 코드').fill(` ${recoveryCode} `);
    await page.getByRole('button', { name: '로그인', exact: true }).click();
    await page.getByText('로그인 방법: 카카오, 복구 코드').waitFor();
    t.match(page.url(), '/sessions', 'the login leads back to where the user was');
  });

  await step('a shop with a password connects Kakao after a login, and confirms who it is', async (t) => {
    const shop = await openShop({ username: 'dongne_books', name: '박책방' });
    const { page, username, email } = shop;
    await createUser(example, { username, email });
    await pool.query('UPDATE users SET is_verified = true WHERE username = $1', [username]);
    await logInWithKakao(shop, { id: '1003', email }, loginMethods);
    await page.getByText('그 계정으로 로그인하시면 바로 연결됩니다').waitFor();
    t.strictSame(await violations(page), []);
    await enterLogin(page, username);
    await page.getByText('로그인 방법을 연결했습니다').waitFor();

    await pool.query(makeOld);
    await page.getByRole('button', { name: '연결 해제 카카오' }).click();
    await page.getByRole('dialog').getByRole('button', { name: '연결 해제' }).click();
    const confirmation = page.getByRole('dialog', { name: '본인 확인' });
    await confirmation.getByLabel('비밀번호', { exact: true }).fill('wrong');
    await confirmation.getByRole('button', { name: '확인하기' }).click();
    await confirmation.getByText('비밀번호가 올바르지 않습니다').waitFor();
    t.strictSame(await violations(page), []);
    await confirmation.getByLabel('비밀번호', { exact: true }).fill(password);
    await confirmation.getByRole('button', { name: '확인하기' }).click();
    await page.getByText('연결을 해제했습니다').waitFor();
    await page.getByRole('button', { name: '카카오 연결하기' }).waitFor();
    t.equal(await page.getByRole('dialog').count(), 0);
    await agreeAtKakao(page, { id: '1003', email });
    await page.getByRole('button', { name: '카카오 연결하기' }).click();
    await page.getByRole('button', { name: '연결 해제 카카오' }).waitFor();
    t.pass('and connects it again from its account');
  });

  await step('a shop without a password confirms with Kakao, and deletes its account', async (t) => {
    const { page, email } = flower;
    await pool.query(makeOld);
    const remove = async () => {
      await page.getByRole('button', { name: '회원 탈퇴' }).click();
      await page.getByRole('dialog').getByRole('button', { name: '회원 탈퇴' }).click();
    };
    await page.goto('/account');
    await remove();
    await agreeAtKakao(page, { id: '1002', email });
    await page.getByRole('button', { name: '카카오 계정으로 확인' }).click();
    await page.getByText('본인 확인이 완료되었습니다').waitFor();
    await remove();
    await page.getByText('회원 탈퇴가 완료되었습니다').waitFor();
    t.equal(await page.getByLabel('비밀번호').count(), 0);
  });

  await step('a user who declines at Kakao gets back to the login', async (t) => {
    const { page } = flower;
    await page.route(`${kakao.url}/authorize?*`, (route) => {
      const location = `${api}/auth/providers/kakao/callback/?error=access_denied`;
      return route.fulfill({ status: 302, headers: { location } });
    });
    await page.goto('/login');
    await page.getByRole('button', { name: '카카오 로그인', exact: true }).click();
    await page.getByText('요청을 취소하셨습니다').waitFor();
    t.notMatch(page.url(), 'error', 'the address has no trace of it');
    await page.getByRole('link', { name: '로그인 화면으로' }).click();
    await page.getByRole('heading', { name: '로그인', level: 1 }).waitFor();
  });

  await step('a link to the login leads to no other site, and a used link explains itself', async (t) => {
    const { page } = cafe;
    await page.goto('/login?next=/.//evil.example');
    await page.getByRole('heading', { name: '페이지를 찾을 수 없습니다' }).waitFor();
    t.equal(page.url(), `${origin}/evil.example`);
    await page.goto('/undo-email-change?token=used');
    await page.getByRole('button', { name: '예전 주소로 되돌리기' }).click();
    await page.getByText('이미 사용했거나 기한이 지난 링크입니다').waitFor();
  });

  await step('a logout from elsewhere is explained on the home page', async (t) => {
    const { page, username } = cafe;
    await page.goto('/');
    await page.getByRole('heading', { name: '제휴 글 둘러보기' }).waitFor();
    await pool.query('DELETE FROM sessions USING users u WHERE u.id = user_id AND username = $1', [username]);
    const message = page.getByText('로그아웃되었습니다. 다시 로그인해 주세요.');
    // The page may notice it by itself before the click.
    await page.getByRole('link', { name: '마감된 글', exact: true }).or(message).first().click();
    await message.waitFor();
    t.equal(new URL(page.url()).pathname, '/');
    t.strictSame(await violations(page), []);
  });

  await step('no script of a page could read a refresh token', async (t) => {
    for (const { page, bodies } of [cafe, flower]) {
      const stored = await page.evaluate<string>(
        'document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)',
      );
      const readable = [stored, ...(await Promise.all(bodies))].join('\n');
      t.match(readable, '"access":"', 'the responses of logins are among them');
      t.notMatch(readable, /"refresh":/);
    }
    t.ok(refreshCookies.length > 2);
    for (const cookie of refreshCookies)
      t.match(cookie, { name: 'dure-refresh', httpOnly: true, sameSite: 'Strict' });
  });
});
