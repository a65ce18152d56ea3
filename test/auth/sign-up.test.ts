import t from 'tap';
import { codeIn, createTestApp, password } from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { accountsOf, signUpBody, verifyAddress } from './accounts.ts';
import { comparable, mailsTo } from './mailbox.ts';

const app = await createTestApp();
const required = await app.startInstance({ EMAIL_VERIFICATION: 'required' });

const { signUp, tryLogin } = accountsOf(app);

/** The body of a sign-up whose email is proved. */
async function provenBody(fields: Record<string, unknown> = {}) {
  const body = signUpBody(fields);
  return { ...body, verification_token: await verifyAddress(app, body.email) };
}

const mailCount = async (email: string) => (await mailsTo(app, email)).length;
const countUsers = () => countRows(app, 'users');

t.test('a sign-up returns exactly the six fields of a user and sends a code', async (t) => {
  const body = { username: 'Dure_Cafe', password, name: '  김두레 ', email: 'Owner@Example.com' };
  const response = await signUp(body);
  const { id } = response.body.data;
  const user = { id, username: 'dure_cafe', name: '김두레', email: 'owner@example.com', role: 'user' };
  t.strictSame(response.body.data, { ...user, is_verified: false });
  t.ok(Number.isSafeInteger(id));
  t.match(codeIn(await app.mails.next('owner@example.com')), /^\d{6}$/);
});

for (const field of ['username', 'email'] as const) {
  const code = `${field}_taken`;

  t.test(`a sign-up with a ${field} that is taken is ${code}, in any case`, async (t) => {
    const first = signUpBody();
    await signUp(first);
    const second = signUpBody({ [field]: first[field].toUpperCase() });
    const users = await countUsers();
    rejected(t, await signUp(second), 409, code);
    t.equal(await countUsers(), users);
    t.equal(await mailCount(first.email), 1);
    if (field === 'username') t.equal(await mailCount(second.email), 0);
  });

  t.test(`of 20 concurrent sign-ups with one ${field}, one succeeds`, async (t) => {
    const { username, email } = signUpBody();
    const users = await countUsers();
    const shared = field === 'username' ? { username } : { email };
    const responses = await inParallel(20, () => signUp(signUpBody(shared)));
    t.strictSame(tally(responses), { '201': 1, [`409 ${code}`]: 19 });
    t.equal(await countUsers(), users + 1);
    if (field === 'email') t.equal(await mailCount(email), 1);
  });
}

t.test('the language of a user is set at sign-up', async (t) => {
  for (const [header, language] of Object.entries({ 'en-US': 'en', 'ko-KR,en;q=0.9': 'ko' })) {
    const body = signUpBody();
    await signUp(body, { 'accept-language': header });
    const { rows } = await app.pool.query('SELECT language FROM users WHERE username = $1', [body.username]);
    t.strictSame(rows, [{ language }], header);
  }
});

t.test('a token that is invalid or of another address is rejected, and no account is created', async (t) => {
  const { verification_token: token, ...body } = await provenBody();
  const [id = '', proof = ''] = token.split('.');
  const ids = ['', '00000000-0000-4000-8000-000000000000', id.replaceAll('-', '0'), '-'.repeat(36)];
  for (const verification_token of [
    ...['x', 'undefined', id, `${id}.`, `${id}.${'A'.repeat(43)}`, `${id}.${proof}.${proof}`],
    ...[`${token}A`, token.slice(0, -1), token.toUpperCase(), ...ids.map((one) => `${one}.${proof}`)],
  ]) {
    rejected(t, await signUp({ ...body, verification_token }), 400, 'verification_token_invalid');
  }
  const ofOther = await signUp(signUpBody({ verification_token: token }));
  rejected(t, ofOther, 400, 'verification_token_invalid');
  t.equal((await signUp({ ...body, verification_token: token })).status, 201, 'the genuine one still works');
});

t.test('a token lives for VERIFICATION_TOKEN_TTL, by default 30 minutes', async (t) => {
  const body = await provenBody();
  const left =
    'SELECT extract(epoch FROM expires_at - now())::int AS seconds FROM email_proofs WHERE email = $1';
  const [{ seconds }] = (await app.pool.query(left, [body.email])).rows;
  t.ok(seconds > 1740 && seconds <= 1800, `${seconds} s`);
  await app.pool.query('UPDATE email_proofs SET expires_at = now() WHERE email = $1', [body.email]);
  rejected(t, await signUp(body), 400, 'verification_token_invalid');
});

t.test('of 20 concurrent sign-ups with one token, one succeeds', async (t) => {
  const { email, verification_token } = await provenBody();
  const responses = await inParallel(20, () => signUp(signUpBody({ email, verification_token })));
  t.strictSame(tally(responses), { '201': 1, '400 verification_token_invalid': 19 });
  await app.pool.query('DELETE FROM users WHERE email = $1', [email]);
  const again = await signUp(signUpBody({ email, verification_token }));
  rejected(t, again, 400, 'verification_token_invalid');
});

t.test('with EMAIL_VERIFICATION=required sign-up needs a token', async (t) => {
  invalid(t, await signUp(signUpBody(), {}, required), 'verification_token');
  const common = signUpBody({ password: 'password' });
  invalid(t, await signUp(common, {}, required), 'verification_token', 'password');
  const unknown = await signUp(signUpBody({ verification_token: 'x' }), {}, required);
  rejected(t, unknown, 400, 'verification_token_invalid');
  const body = await provenBody();
  const response = await signUp({ ...body, email: body.email.toUpperCase() }, {}, required);
  t.match(response, { status: 201, body: { data: { is_verified: true, email: body.email } } });
  t.equal(await mailCount(body.email), 1, 'only the code that was asked for');
});

t.test('with EMAIL_VERIFICATION=required sign-up does not reveal taken addresses or usernames', async (t) => {
  const taken = signUpBody();
  await signUp(taken);
  const { verification_token } = await provenBody();
  for (const token of [{}, { verification_token: 'x' }, { verification_token }]) {
    const [free, address, both] = [
      await signUp(signUpBody(token), {}, required),
      await signUp(signUpBody({ email: taken.email, ...token }), {}, required),
      await signUp({ ...taken, ...token }, {}, required),
    ];
    t.equal(free.status, 400);
    t.strictSame(address.body, free.body);
    t.strictSame(both.body, free.body);
    t.strictSame(comparable(address).headers, comparable(free).headers);
  }
  t.equal(await mailCount(taken.email), 1, 'no email but the one of the first sign-up');
});

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

t.test('a password is never trimmed or cut, and the same in every Unicode form', async (t) => {
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
