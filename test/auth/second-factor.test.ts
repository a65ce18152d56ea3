import t, { type Test } from 'tap';
import { createTestApp, createUser, logIn, testEnvironment } from '../support/app.ts';
import { delayed, rejected, tally, tokenRejected, unavailable } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { cleanUp } from '../support/images.ts';
import { countRows, everyRow } from '../support/rows.ts';
import { accountsOf, whileSessionsEnd } from './accounts.ts';
import { asPasted, authenticatorOf, forgetSteps, secondFactorOf } from './authenticator.ts';
import { createVerifiedUser, mailsTo, newResetLink } from './mailbox.ts';

const app = await createTestApp();
const { pool } = app;
const { tryLogin, changePassword, confirmReset } = accountsOf(app);
const { begin, confirm, status, newRecoveryCodes, remove, ...others } = secondFactorOf(app);
const { firstFactor, finishLogin, switchOn, createProtected } = others;

/** Asserts whether a login with the password is enough. */
async function asksForCode(t: Test, { username }: { username: string }, expected: boolean) {
  const response = await tryLogin(username);
  t.equal(response.status, expected ? 401 : 200, response.text);
}

t.test('a secret is shown as text and as a URI, and nothing is on before its code', async (t) => {
  const user = await createUser(app);
  const { body } = await begin(user.token);
  const { secret, otpauth_uri } = body.data;
  t.match(secret, /^[A-Z2-7]{32}$/, '160 bits');
  t.match(otpauth_uri, `otpauth://totp/Dure:${user.username}?`);
  const parameters = { issuer: 'Dure', secret, algorithm: 'SHA1', digits: '6', period: '30' };
  t.strictSame(Object.fromEntries(new URL(otpauth_uri).searchParams), parameters);
  const off = { totp_enabled_at: null, recovery_codes_left: 0, passkeys: 0 };
  t.strictSame((await status(user.token)).body.data, off);
  await asksForCode(t, user, false);
  rejected(t, await newRecoveryCodes(user.token), 404, 'not_found');
});

t.test('a right code switches it on and gives ten recovery codes', async (t) => {
  const user = await createUser(app);
  const { secret } = (await begin(user.token)).body.data;
  const { code, wrong } = authenticatorOf(secret);
  rejected(t, await confirm(user.token, wrong()), 400, 'invalid_code', { attempts_left: 9 });
  await asksForCode(t, user, false);
  const codes: string[] = (await confirm(user.token, asPasted(code()))).body.data.recovery_codes;
  t.equal(new Set(codes).size, 10);
  for (const one of codes) t.match(one, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
  await asksForCode(t, user, true);
  t.match((await status(user.token)).body.data, { totp_enabled_at: /Z$/, recovery_codes_left: 10 });
  rejected(t, await begin(user.token), 409, 'second_factor_exists');
  rejected(t, await confirm(user.token, code(1)), 409, 'second_factor_exists');
});

t.test('a secret that is not confirmed is void after its removal or another one', async (t) => {
  const user = await createUser(app);
  const removed = authenticatorOf((await begin(user.token)).body.data.secret);
  await remove(user.token);
  rejected(t, await confirm(user.token, removed.code()), 400, 'invalid_code', { attempts_left: 9 });
  const first = authenticatorOf((await begin(user.token)).body.data.secret);
  const second = authenticatorOf((await begin(user.token)).body.data.secret);
  rejected(t, await confirm(user.token, first.code()), 400, 'invalid_code', { attempts_left: 8 });
  t.equal((await confirm(user.token, second.code())).status, 200);
});

t.test('of concurrent confirmations one gives recovery codes, and they work', async (t) => {
  const user = await createUser(app);
  const { code } = authenticatorOf((await begin(user.token)).body.data.secret);
  const given = code();
  const responses = await inParallel(5, () => confirm(user.token, given));
  t.strictSame(tally(responses), { '200': 1, '409 second_factor_exists': 4 });
  const [one] = responses.find((response) => response.status === 200)?.body.data.recovery_codes ?? [];
  t.equal((await finishLogin(await firstFactor(user), one)).status, 200);
});

t.test('new recovery codes void the old ones', async (t) => {
  const { recoveryCodes, ...user } = await createProtected();
  const fresh = (await newRecoveryCodes(user.token)).body.data.recovery_codes;
  t.equal(new Set([...recoveryCodes, ...fresh]).size, 20);
  const token = await firstFactor(user);
  rejected(t, await finishLogin(token, recoveryCodes[0] ?? ''), 400, 'invalid_code', { attempts_left: 4 });
  t.equal((await finishLogin(token, fresh[0])).status, 200);
});

t.test('switched off, no code is asked for and the recovery codes are gone', async (t) => {
  const { recoveryCodes, ...user } = await createProtected();
  const open = await firstFactor(user);
  t.strictSame((await remove(user.token)).body.data, {});
  t.equal((await remove(user.token)).status, 200, 'again');
  await asksForCode(t, user, false);
  rejected(t, await finishLogin(open, recoveryCodes[0] ?? ''), 400, 'invalid_code', { attempts_left: 4 });
  t.equal(await countRows(app, 'recovery_codes WHERE user_id = $1', user.id), 0);
  await switchOn(user);
  t.equal((await status(user.token)).body.data.recovery_codes_left, 10);
});

t.test('a session that ends meanwhile changes nothing', async (t) => {
  const user = await createUser(app);
  const { code } = authenticatorOf((await begin(user.token)).body.data.secret);
  const given = code();
  for (const change of [() => confirm(user.token, given), () => begin(user.token)]) {
    tokenRejected(t, await whileSessionsEnd(t, app, user, change), 'revoked');
    await asksForCode(t, user, false);
    user.token = (await logIn(app, user)).token;
  }
});

t.test('a verified address gets a notice of what is added and removed', async (t) => {
  const user = await createVerifiedUser(app);
  const subjects = async () => (await mailsTo(app, user.email)).map(({ subject }) => subject);
  const { wrong } = await switchOn(user);
  t.strictSame(await subjects(), ['[두레] 2단계 인증이 켜졌습니다']);
  await confirm(user.token, wrong());
  await remove(user.token);
  await remove(user.token);
  t.strictSame(await subjects(), ['[두레] 2단계 인증이 켜졌습니다', '[두레] 2단계 인증이 꺼졌습니다']);
});

t.test('a reset and a change of the password leave it on and void open logins', async (t) => {
  const user = await createVerifiedUser(app);
  const { code } = await switchOn(user);
  const [first, second] = [await firstFactor(user), await firstFactor(user)];
  t.equal((await changePassword(user.token, user.password, user.password)).status, 200);
  rejected(t, await finishLogin(first, code()), 400, 'second_factor_token_invalid');
  const third = await firstFactor(user);
  const { password: new_password } = user;
  t.equal((await confirmReset(await newResetLink(app, user.email), new_password)).status, 200);
  for (const open of [second, third])
    rejected(t, await finishLogin(open, code()), 400, 'second_factor_token_invalid');
  await asksForCode(t, user, true);
});

t.test('the first proof of an address by a reset removes what was added without one', async (t) => {
  const user = await createProtected();
  t.equal((await confirmReset(await newResetLink(app, user.email), user.password)).status, 200);
  await asksForCode(t, user, false);
  const subjects = (await mailsTo(app, user.email)).map(({ subject }) => subject);
  for (const notice of ['비밀번호가 변경되었습니다', '2단계 인증이 꺼졌습니다'])
    t.ok(subjects.includes(`[두레] ${notice}`), notice);
});

t.test('neither secret nor recovery code can be read at rest or in the logs', async (t) => {
  const user = await createUser(app);
  const { secret, otpauth_uri } = (await begin(user.token)).body.data;
  const { code } = authenticatorOf(secret);
  const given = code();
  const codes: string[] = (await confirm(user.token, given)).body.data.recovery_codes;
  const token = await firstFactor(user);
  await finishLogin(token, codes[0] ?? '');
  const stored = (await everyRow(app)).toLowerCase();
  const logged = app.logs.join('').toLowerCase();
  const withoutHyphens = codes.map((one) => one.replaceAll('-', ''));
  for (const one of [secret, otpauth_uri, token.split('.')[1] ?? '', ...codes, ...withoutHyphens]) {
    t.notOk(stored.includes(one.toLowerCase()), `${one} is not in the database`);
    t.notOk(logged.includes(one.toLowerCase()), `${one} is not in the logs`);
  }
});

t.test('the secret of one account does not open for another', async (t) => {
  const [victim, attacker] = [await createProtected(), await createProtected()];
  const foreign = '(SELECT secret FROM second_factors WHERE user_id = $2)';
  const copy = `UPDATE second_factors SET secret = ${foreign} WHERE user_id = $1`;
  await pool.query(copy, [victim.id, attacker.id]);
  const at = secondFactorOf(await app.startInstance({}, { serverErrors: true }));
  unavailable(t, await at.finishLogin(await at.firstFactor(victim), attacker.code()));
});

t.test('any JWT_SECRET opens a secret; without one the login is refused and logged', async (t) => {
  const { code, wrong, recoveryCodes, ...user } = await createProtected();
  const newer = 'a newer secret that only tests have 012345';
  const rotated = await app.startInstance({ JWT_SECRET: `${newer},${testEnvironment.JWT_SECRET}` });
  const on = secondFactorOf(rotated);
  t.equal((await on.finishLogin(await on.firstFactor(user), code())).status, 200);
  await forgetSteps(app, user);

  const after = await app.startInstance({ JWT_SECRET: newer }, { serverErrors: true });
  const at = secondFactorOf(after);
  const token = await at.firstFactor(user);
  unavailable(t, await at.finishLogin(token, code()));
  unavailable(t, await at.finishLogin(token, wrong()));
  t.match(
    after.logs.map((line) => JSON.parse(line)).find(({ level }) => level === 50)?.err.message,
    `no JWT_SECRET opens the second factor of user ${user.id}`,
  );
  t.equal((await at.finishLogin(token, recoveryCodes[0] ?? '')).status, 200);
});

t.test('the clean-up seals secrets again, so that a rotation can drop an old JWT_SECRET', async (t) => {
  const before = await createTestApp({ WORKER_ENABLED: 'false' });
  const user = await secondFactorOf(before).createProtected();
  const newer = 'a newer secret that only tests have 012345';
  const both = `${newer},${testEnvironment.JWT_SECRET}`;
  const rotated = await createTestApp({ JWT_SECRET: both }, { databaseUrl: before.url });
  await cleanUp(rotated);
  const at = secondFactorOf(await before.startInstance({ JWT_SECRET: newer }));
  t.equal((await at.finishLogin(await at.firstFactor(user), user.code())).status, 200);
});

t.test('guesses of the code that switches it on are bounded', async (t) => {
  const user = await createUser(app);
  const { code, wrong } = authenticatorOf((await begin(user.token)).body.data.secret);
  for (let left = 9; left >= 0; left--)
    rejected(t, await confirm(user.token, wrong()), 400, 'invalid_code', { attempts_left: left });
  delayed(t, await confirm(user.token, code()), 31);
});
