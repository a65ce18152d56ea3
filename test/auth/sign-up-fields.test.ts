import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { invalid, refused } from '../support/assertions.ts';
import { signUpBody } from './accounts.ts';

const app = await createTestApp();
t.teardown(app.close);

const signUp = (body: unknown) => app.call('POST', '/auth/signup/', { body });

/** Signs up with one field changed. */
const withField = (name: string, value: unknown) => signUp(signUpBody({ [name]: value }));

t.test('a username is 4-30 of a-z 0-9 . _ - after folding, and starts with a letter', async (t) => {
  const longest = `a${'9'.repeat(29)}`;
  for (const [given, kept] of [
    ['kim1', 'kim1'],
    [longest, longest],
    ['A.b_C-9', 'a.b_c-9'],
    [' SPACED.out\t', 'spaced.out'],
    ['a...', 'a...'],
    ['\u212Aelvin', 'kelvin'],
  ]) {
    const answer = await withField('username', given);
    t.equal(answer.status, 201, String(given));
    t.equal(answer.body.data.username, kept);
  }
  const refusedOnes = [
    '',
    '    ',
    'kim',
    `${longest}9`,
    '1kim',
    '_kim',
    '.kim',
    '-kim',
    'kim lee',
    'kim!',
    'kim@lee',
  ];
  refusedOnes.push(
    '김두레네',
    'kimé',
    'ｋｉｍｌｅｅ',
    'kim\u0000lee',
    'kim\nlee',
    'kim\ud800lee',
    'kim\u200blee',
    'İstanbul',
  );
  for (const given of refusedOnes) invalid(t, await withField('username', given), 'username');
});

t.test('an e-mail address is a valid one of at most 254 characters, and lower-cased', async (t) => {
  const longest = `${'l'.repeat(64)}@${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(58)}.kr`;
  t.equal(longest.length, 254);
  for (const given of [
    "O'Neil+Tag@Sub.Example.co.KR",
    ' trimmed@Example.com ',
    longest,
    'a@xn--9n2bp8q.kr',
    '1@2.kr',
  ]) {
    const answer = await withField('email', given);
    t.equal(answer.status, 201, String(given));
    t.equal(answer.body.data.email, given.trim().toLowerCase());
  }
  const refusedOnes = [
    '',
    ' ',
    'plain',
    'a@b',
    '@b.kr',
    'a@',
    'a b@c.kr',
    'a@b..kr',
    'a@-b.kr',
    'a@b-.kr',
    'a..b@c.kr',
  ];
  refusedOnes.push(
    '.a@b.kr',
    'a.@b.kr',
    'a@b.kr, c@d.kr',
    'A <a@b.kr>',
    'a@b.kr\r\nBcc: c@d.kr',
    'a@b@c.kr',
    'a@b.k',
    'a@b.1',
  );
  refusedOnes.push(
    `l${longest}`,
    longest.replace('.kr', 'd.kr'),
    'a@b.kr\u0000',
    'a\ud800@b.kr',
    'a\u202eb@c.kr',
  );
  for (const given of refusedOnes) invalid(t, await withField('email', given), 'email');
});

t.test('a password has 8-128 characters after NFC', async (t) => {
  const longest = '가나다라마바사아'.repeat(16);
  for (const good of [
    'zu-k9!xq',
    '비밀은아무도몰라',
    '🍙🍚🍛🍜🍝🍞🍟🍠',
    longest,
    longest.normalize('NFD'),
    'no rules of composition',
  ]) {
    t.equal((await withField('password', good)).status, 201, good);
  }
  const refusedOnes = [
    '',
    'zu-k9!x',
    '🍙🍚🍛🍜🍝🍞🍟',
    'e\u0301'.repeat(4),
    `${longest}가`,
    `${longest}가`.normalize('NFD'),
  ];
  refusedOnes.push('zu-k9!xq\u0000', 'zu-k9\nxq', 'zu-k9!xq\ud800');
  for (const bad of refusedOnes) invalid(t, await withField('password', bad), 'password');
});

t.test('a password is never trimmed or cut', async (t) => {
  const logIn = (username: string, password: string) =>
    app.call('POST', '/auth/login/', { body: { username, password } });
  const spaced = signUpBody({ password: '  kimchi & rice  ' });
  t.equal((await signUp(spaced)).status, 201);
  t.equal((await logIn(spaced.username, spaced.password)).status, 200);
  refused(t, await logIn(spaced.username, 'kimchi & rice'), 401, 'invalid_credentials');
  refused(t, await logIn(spaced.username, '  kimchi & rice'), 401, 'invalid_credentials');

  const start = '감자😀'.repeat(42);
  const long = signUpBody({ password: `${start}a1` });
  t.equal((await signUp(long)).status, 201);
  t.equal((await logIn(long.username, long.password)).status, 200);
  refused(t, await logIn(long.username, `${start}a2`), 401, 'invalid_credentials');
  refused(t, await logIn(long.username, `${start}a`), 401, 'invalid_credentials');
  refused(t, await logIn(long.username, `${start}A1`), 401, 'invalid_credentials');
});

t.test('a password is the same in every Unicode form', async (t) => {
  const body = signUpBody({ password: '맛있는 김밥 é'.normalize('NFD') });
  t.equal((await signUp(body)).status, 201);
  for (const form of ['NFC', 'NFD'] as const) {
    const login = { username: body.username, password: body.password.normalize(form) };
    t.equal((await app.call('POST', '/auth/login/', { body: login })).status, 200, form);
  }
});

t.test('a common password is refused', async (t) => {
  const listed = ['password', '12345678', 'qwertyuiop', 'iloveyou', 'trustno1'];
  const patterns = ['00000000', 'aaaaaaaa', 'ㅋㅋㅋㅋㅋㅋㅋㅋ', '87654321', 'ABCDEFGH', 'zyxwvuts'];
  const repeated = ['z'.repeat(13), '가'.repeat(128), '🍙'.repeat(40)];
  for (const common of [...listed, ...patterns, ...repeated]) {
    const answer = await withField('password', common);
    invalid(t, answer, 'password');
    t.match(answer.body.data.errors, [{ field: 'password', code: 'password_too_common' }]);
  }
});

t.test('a password that contains the username is refused, in any case', async (t) => {
  for (const password of ['my-Bakery.Kim-7', 'BAKERY.KIM', 'bakery.kim-and-more']) {
    const answer = await signUp(signUpBody({ username: 'bakery.kim', password }));
    invalid(t, answer, 'password');
    t.match(answer.body.data.errors, [{ field: 'password', code: 'password_contains_identity' }]);
    invalid(t, await signUp(signUpBody({ username: 'BAKERY.kim', password })), 'password');
  }
});

t.test(
  "a password that contains the e-mail's local part is refused, in any case, from 4 characters on",
  async (t) => {
    for (const password of ['x-Rice-77-ok', 'RICE and more', 'so much rice']) {
      const answer = await signUp(signUpBody({ email: 'rIce@Example.com', password }));
      invalid(t, answer, 'password');
      t.match(answer.body.data.errors, [{ field: 'password', code: 'password_contains_identity' }]);
    }
    const short = await signUp(signUpBody({ email: 'ric@example.com', password: 'ric-RIC-ricecake' }));
    t.equal(short.status, 201, 'three characters are no reason');
    const domain = await signUp(signUpBody({ email: 'soup@noodles.kr', password: 'noodles.kr-for-me' }));
    t.equal(domain.status, 201, 'the domain is no reason');
  },
);

t.test('PASSWORD_MIN_LENGTH sets the minimum length', async (t) => {
  const strict = await createTestApp(
    { PASSWORD_MIN_LENGTH: '12', WORKER_ENABLED: 'false' },
    { databaseUrl: app.url },
  );
  t.teardown(strict.close);
  const post = (body: unknown) => strict.call('POST', '/auth/signup/', { body });
  invalid(t, await post(signUpBody({ password: 'zu-k9!xqabc' })), 'password');
  t.equal((await post(signUpBody({ password: 'zu-k9!xqabcd' }))).status, 201);
});

t.test('no refused sign-up was stored', async (t) => {
  const { rows } = await app.pool.query(
    `SELECT count(*)::int AS n FROM users WHERE username !~ '^[a-z][a-z0-9._-]{3,29}$' OR role <> 'user' OR is_verified`,
  );
  t.equal(rows[0].n, 0);
});
