import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { invalid, rejected } from '../support/assertions.ts';
import { accountsOf, signUpBody } from './accounts.ts';

const app = await createTestApp();

const { signUp, tryLogin } = accountsOf(app);

const withField = (name: string, value: unknown) => signUp(signUpBody({ [name]: value }));

t.test('a username is 4-30 of a-z 0-9 . _ - after lower-casing, and starts with a letter', async (t) => {
  const longest = `a${'9'.repeat(29)}`;
  for (const [given, kept] of [
    ['kim1', 'kim1'],
    [longest, longest],
    ['A.b_C-9', 'a.b_c-9'],
    [' SPACED.out\t', 'spaced.out'],
    ['a...', 'a...'],
    ['\u212Aelvin', 'kelvin'],
  ]) {
    t.equal((await withField('username', given)).body.data.username, kept, `${given}`);
  }
  for (const given of [
    ...['', '    ', 'kim', `${longest}9`, '1kim', '_kim', '.kim', '-kim', 'kim lee', 'kim!', 'kim@lee'],
    ...['김두레네', 'kimé', 'ｋｉｍｌｅｅ', 'İstanbul'],
  ]) {
    invalid(t, await withField('username', given), 'username');
  }
});

t.test('an email is a valid one of at most 254 characters, and lower-cased', async (t) => {
  const longest = `${'l'.repeat(64)}@${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(58)}.kr`;
  t.equal(longest.length, 254);
  const valid = ["O'Neil+Tag@Sub.Example.co.KR", ' trimmed@Example.com ', 'a@xn--9n2bp8q.kr', '1@2.kr'];
  for (const given of [...valid, longest]) {
    t.equal((await withField('email', given)).body.data.email, given.trim().toLowerCase(), given);
  }
  for (const given of [
    ...'plain a@b @b.kr a@ a@b..kr a@-b.kr a@b-.kr a..b@c.kr .a@b.kr a.@b.kr a@b@c.kr a@b.k a@b.1'.split(' '),
    ...['', ' ', 'a b@c.kr', 'a@b.kr, c@d.kr', 'A <a@b.kr>', 'a@b.kr\r\nBcc: c@d.kr'],
    ...[`l${longest}`, longest.replace('.kr', 'd.kr')],
  ]) {
    invalid(t, await withField('email', given), 'email');
  }
});

t.test('a password has 8-128 characters after NFC', async (t) => {
  const longest = '가나다라마바사아'.repeat(16);
  const accepted = ['zu-k9!xq', '비밀은아무도몰라', '🍙🍚🍛🍜🍝🍞🍟🍠', 'no rules of composition'];
  for (const good of [...accepted, longest, longest.normalize('NFD')])
    t.equal((await withField('password', good)).status, 201, good);
  const long = `${longest}가`;
  for (const bad of ['', 'zu-k9!x', '🍙🍚🍛🍜🍝🍞🍟', 'e\u0301'.repeat(4), long, long.normalize('NFD')])
    invalid(t, await withField('password', bad), 'password');
});

t.test('a password is never trimmed or cut', async (t) => {
  const spaced = signUpBody({ password: '  kimchi & rice  ' });
  t.equal((await signUp(spaced)).status, 201);
  t.equal((await tryLogin(spaced.username, spaced.password)).status, 200);
  for (const cut of ['kimchi & rice', '  kimchi & rice'])
    rejected(t, await tryLogin(spaced.username, cut), 401, 'invalid_credentials');

  const start = '감자😀'.repeat(42);
  const long = signUpBody({ password: `${start}a1` });
  t.equal((await signUp(long)).status, 201);
  t.equal((await tryLogin(long.username, long.password)).status, 200);
  for (const end of ['a2', 'a', 'A1'])
    rejected(t, await tryLogin(long.username, start + end), 401, 'invalid_credentials');
});

t.test('a password is the same in every Unicode form', async (t) => {
  const body = signUpBody({ password: '맛있는 김밥 é'.normalize('NFD') });
  t.equal((await signUp(body)).status, 201);
  for (const form of ['NFC', 'NFD'] as const)
    t.equal((await tryLogin(body.username, body.password.normalize(form))).status, 200, form);
});

t.test('a common password is rejected', async (t) => {
  const listed = ['password', '12345678', 'qwertyuiop', 'iloveyou', 'trustno1'];
  const patterns = ['00000000', 'aaaaaaaa', 'ㅋㅋㅋㅋㅋㅋㅋㅋ', '87654321', 'ABCDEFGH', 'zyxwvuts'];
  const repeated = ['z'.repeat(13), '가'.repeat(128), '🍙'.repeat(40)];
  for (const common of [...listed, ...patterns, ...repeated]) {
    const response = await withField('password', common);
    invalid(t, response, 'password');
    t.match(response.body.data.errors, [{ field: 'password', code: 'password_too_common' }]);
  }
});

t.test('a password must not contain the username, or the local part of the email', async (t) => {
  for (const [field, value, passwords] of [
    ['username', 'bakery.kim', ['my-Bakery.Kim-7', 'BAKERY.KIM', 'bakery.kim-and-more']],
    ['username', 'BAKERY.kim', ['my-Bakery.Kim-7']],
    ['email', 'rIce@Example.com', ['x-Rice-77-ok', 'RICE and more', 'so much rice']],
  ] as const) {
    for (const password of passwords) {
      const response = await signUp(signUpBody({ [field]: value, password }));
      invalid(t, response, 'password');
      t.match(response.body.data.errors, [{ field: 'password', code: 'password_contains_identity' }]);
    }
  }
  const both = { username: 'bakery.kim', email: 'rice@example.com', password: 'rice-bakery.kim' };
  const message = '비밀번호에 아이디나 이메일 주소를 넣을 수 없습니다.';
  t.strictSame(invalid(t, await signUp(signUpBody(both)), 'password').password, [message]);
  const short = await signUp(signUpBody({ email: 'ric@example.com', password: 'ric-RIC-ricecake' }));
  t.equal(short.status, 201, 'three characters are no reason');
  const domain = await signUp(signUpBody({ email: 'soup@noodles.kr', password: 'noodles.kr-for-me' }));
  t.equal(domain.status, 201, 'the domain is no reason');
});

t.test('PASSWORD_MIN_LENGTH sets the minimum length', async (t) => {
  const strict = await app.startInstance({ PASSWORD_MIN_LENGTH: '12' });
  invalid(t, await signUp(signUpBody({ password: 'zu-k9!xqabc' }), {}, strict), 'password');
  t.equal((await signUp(signUpBody({ password: 'zu-k9!xqabcd' }), {}, strict)).status, 201);
});
