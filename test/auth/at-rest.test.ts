import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { codeIn, createTestApp, relayed, resetLinkIn } from '../support/app.ts';
import { invalid, rejected } from '../support/assertions.ts';
import { everyRow } from '../support/rows.ts';
import { otherThan } from './accounts.ts';
import { latestUndoToken, mailsTo, verifyLinkTokenIn } from './mailbox.ts';

const environment = { LOG_LEVEL: 'trace', JWT_SECRET: 'canary-secret-Fz97kQ-0123456789-abcdefghijkl' };
// No worker takes the jobs of this instance.
const app = await createTestApp({ ...environment, WORKER_ENABLED: 'false' });

const email = 'keeper@example.com';
const stranger = 'visitor@example.com';
/** The address to which the account of the stranger moves. */
const moved = 'moved-away@example.com';
const username = 'keeper-owner';

/** Passwords in requests, by what happens with them. */
const passwords = {
  signUp: 'Canary-sign-up-Fz81kQ',
  tooShort: 'Fz81-sh',
  withUsername: 'Canary-Keeper-Owner-Fz82kQ',
  tooLong: `Fz83kQ${'-canary'.repeat(20)}`,
  inUnknownField: 'Canary-unknown-Fz84kQ',
  // Short, as a parser quotes only some characters around its error.
  inMalformedJson: 'Fz85-mal',
  wrongLogin: 'Canary-wrong-login-Fz86kQ',
  wrongMethod: 'Canary-wrong-method-Fz87kQ',
  reset: 'Canary-reset-Fz88kQ',
  badReset: 'Canary-KEEPER-OWNER-reset-Fz89kQ',
  wrongChange: 'Canary-wrong-change-Fz90kQ',
  change: 'Canary-change-Fz91kQ',
  wrongDelete: 'Canary-wrong-delete-Fz92kQ',
  inQuery: 'Canary-query-Fz93kQ',
  withControl: 'Canary-\u0000control-Fz94kQ',
  inWrongType: 'Canary-wrong-type-Fz95kQ',
  second: 'Canary-second-Fz96kQ',
};
const secrets = new Map(Object.entries({ ...passwords, JWT_SECRET: environment.JWT_SECRET }));
/** Proves the address to move to. */
let movingCode = '';
/** Six digits can stand anywhere by chance, so they are looked for as a word of their own. */
const codes = new Set<string>();

const post = (path: string, body: unknown, headers: Record<string, string> = {}, token?: string) =>
  app.call('POST', `/auth/${path}/`, { body, headers, token });
const json = { 'content-type': 'application/json' };

/** A secret, its encodings and its digests. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const digests = ['md5', 'sha1', 'sha256', 'sha512'].map((name) => createHash(name).update(secret).digest());
  const encoded = [bytes, ...digests].flatMap((value) =>
    (['hex', 'base64', 'base64url'] as const).map((encoding) => value.toString(encoding).replace(/=+$/, '')),
  );
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), ...encoded];
}

/** Asserts that a text has none of the secrets up to now. */
function hasNoSecret(t: Test, text: string, where: string) {
  const folded = text.toLowerCase();
  for (const [name, secret] of secrets) {
    const found = formsOf(secret).filter((form) => folded.includes(form.toLowerCase()));
    t.strictSame(found, [], `${name} is not in ${where}`);
  }
  const words = text.replace(/\d{4}-\d\d-\d\d[ T][\d:.]+|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '');
  for (const code of codes) {
    t.notMatch(words, new RegExp(`(?<!\\w)${code}(?!\\w)`), `the code is not in ${where}`);
    const [, , , ...encoded] = formsOf(code);
    t.notOk(
      encoded.some((form) => form.length > 20 && folded.includes(form.toLowerCase())),
      where,
    );
  }
}

t.test('no password, code, link token or refresh token can be read at rest or in the logs', async (t) => {
  // While the emails wait in the queue.
  const signUp = { username, email, name: '김두레', password: passwords.signUp };
  t.equal((await post('signup', signUp, { 'idempotency-key': 'canary' })).status, 201);
  t.equal((await post('signup', signUp, { 'idempotency-key': 'canary' })).status, 201);
  for (const password of ['tooShort', 'withUsername', 'tooLong', 'withControl'] as const) {
    invalid(t, await post('signup', { ...signUp, password: passwords[password] }), 'password');
  }
  const unknown = passwords.inUnknownField;
  invalid(t, await post('signup', { ...signUp, [unknown]: unknown }), unknown);
  invalid(t, await post('login', { username, password: [passwords.inWrongType] }), 'password');
  const malformed = passwords.inMalformedJson;
  const values = [malformed, `"${malformed}",`, `"${malformed}\n"`].map((value) => `{"password":${value}}`);
  const texts = [malformed, `"${malformed}`, `["${malformed}\\x"]`, `{"__proto__":"${malformed}"}`];
  for (const body of [...texts, ...values]) {
    rejected(t, await post('login', body, json), 400, 'malformed_json');
  }
  rejected(t, await post('login', { username, password: passwords.wrongLogin }), 401, 'invalid_credentials');
  await post('login', { username: 'unknown-user', password: passwords.wrongLogin });
  await app.call('PUT', '/auth/login/', { body: { username, password: passwords.wrongMethod } });
  await app.call('POST', `/auth/login/?password=${passwords.inQuery}`, { body: {} });
  await app.call('GET', `/nowhere/?password=${passwords.inQuery}`);
  await app.call('GET', `/auth/%zz?password=${passwords.inQuery}`);
  await app.call('GET', '/auth/me/', { token: passwords.inQuery });
  await app.call('GET', '/auth/me/', { headers: { authorization: `Basic ${passwords.inQuery}` } });
  for (const address of [stranger, moved])
    t.equal((await post('email-verify/send', { email: address })).status, 200);
  t.equal((await post('reset-password-request', { email })).status, 200);
  t.equal((await post('find-id', { email })).status, 200);
  await relayed(app);
  const queued = await everyRow(app);
  t.equal(queued.match(/_private_jobs /g)?.length, 5, 'five emails wait');
  t.match(queued, email, 'the rows are there');

  const mailer = await createTestApp(environment, { databaseUrl: app.url });
  const [first, second, third] = await mailsTo(mailer, email);
  const [[proving], [moving]] = [await mailsTo(mailer, stranger), await mailsTo(mailer, moved)];
  await mailer.close();
  const mails = [first, second, third].filter((mail) => mail !== undefined);
  const linkMail = mails.find(({ text }) => text.includes('/reset-password?'));
  const codeMail = mails.find(({ text }) => /(?<!\w)\d{6}(?!\w)/.test(text));
  if (!linkMail || !codeMail || !proving || !moving) throw new Error('an email is missing');
  const { uid, token } = resetLinkIn(linkMail);
  const [code, provingCode] = [codeIn(codeMail), codeIn(proving)];
  movingCode = codeIn(moving);
  secrets.set('link token', token);
  const verifyLink = verifyLinkTokenIn(codeMail);
  secrets.set('secret half of the link to verify', verifyLink.split('.').at(-1) ?? '');
  codes.add(code).add(provingCode).add(movingCode);
  hasNoSecret(t, queued, 'the database while emails are queued');
  hasNoSecret(t, mailer.logs.join(''), 'the logs of the mailing instance');

  // After every secret was used, rightly and wrongly.
  const wrongCode = otherThan(code);
  codes.add(wrongCode);
  const wrong = await post('email-verify/confirm', { email, code: wrongCode });
  rejected(t, wrong, 400, 'invalid_code', { attempts_left: 4 });
  invalid(t, await post('email-verify/confirm', { email, code: `${code}7` }), 'code');
  const badLink = { token: `${verifyLink}x` };
  rejected(t, await post('email-verify/confirm', badLink), 400, 'invalid_code', { attempts_left: 0 });
  t.equal((await post('email-verify/confirm', { token: verifyLink })).status, 200);
  const proof = await post('email-verify/confirm', { email: stranger, code: provingCode });
  const verificationToken: string = proof.body.data.verification_token;
  secrets.set('verification token', verificationToken);
  secrets.set('secret half of the verification token', verificationToken.split('.').at(-1) ?? '');
  hasNoSecret(t, await everyRow(app), 'the database while a verification token is open');

  const link = `/auth/reset-password-validate/?uid=${uid}&token=${token}`;
  t.equal((await app.call('GET', link)).status, 200);
  t.equal((await app.call('HEAD', link)).status, 200);
  await app.call('GET', `/auth/reset-password-validate?token=${token}`);
  await app.call('GET', `${link}x`);
  await app.call('DELETE', link);
  const confirmReset = (new_password: string) => post('reset-password-confirm', { uid, token, new_password });
  invalid(t, await confirmReset(passwords.badReset), 'new_password');
  hasNoSecret(t, await everyRow(app), 'the database while a reset link is open');
  t.equal((await confirmReset(passwords.reset)).status, 200);

  const login = await post('login', { username, password: passwords.reset });
  const { access, refresh } = login.body.data;
  const refreshed = await post('token/refresh', { refresh });
  const next = refreshed.body.data;
  const tokens = { access, refresh, 'second access': next.access, 'second refresh': next.refresh };
  for (const [name, value] of Object.entries<string>(tokens)) {
    secrets.set(`${name} token`, value);
    secrets.set(`signature of the ${name} token`, value.split('.').at(-1) ?? '');
  }
  t.equal((await app.call('GET', '/auth/me/', { token: access })).status, 200);
  await app.call('GET', `/auth/me/?access_token=${access}`);
  await post('token/refresh', { refresh: `${refresh}x` });
  await post('token/refresh', { refresh: access });
  await post('logout', { refresh: access });
  const wrongChange = { current_password: passwords.wrongChange, new_password: passwords.change };
  rejected(t, await post('change-password', wrongChange, {}, access), 401, 'invalid_credentials');
  const change = { current_password: passwords.reset, new_password: passwords.change };
  t.equal((await post('change-password', change, {}, access)).status, 200);
  const body = { password: passwords.wrongDelete };
  rejected(t, await app.call('DELETE', '/auth/me/', { token: access, body }), 401, 'invalid_credentials');
  const neighbour = { username: 'second-owner', email: stranger, name: '이웃', password: passwords.second };
  const tampered = { ...neighbour, verification_token: `${verificationToken}x` };
  rejected(t, await post('signup', tampered), 400, 'verification_token_invalid');
  const verified = { ...neighbour, verification_token: verificationToken };
  t.equal((await post('signup', verified, { 'idempotency-key': 'canary-2' })).status, 201);
  await relayed(app);
  const used = await everyRow(app);
  t.match(used, '_private_jobs ', 'the notices wait');
  t.match(used, /sessions .*,1,/, 'a session that was refreshed is there');
  hasNoSecret(t, used, 'the database after all was used');

  t.equal((await post('logout', { refresh: next.refresh })).status, 200);
  const logs = app.logs.join('');
  t.match(logs, '"path":"/auth/reset-password-validate/"', 'the requests are logged');
  t.match(logs, 'login_failed');
  hasNoSecret(t, logs, 'the logs');
});

t.test('no link to undo a change of email can be read at rest or in the logs', async (t) => {
  const login = await post('login', { username: 'second-owner', password: passwords.second });
  const change = { password: passwords.second, new_email: moved, code: movingCode };
  t.equal((await post('change-email', change, {}, login.body.data.access)).status, 200);
  await relayed(app);
  const queued = await everyRow(app);
  t.match(queued, 'email_changed', 'the notice waits');
  const mailer = await createTestApp(environment, { databaseUrl: app.url });
  const token = await latestUndoToken(mailer, stranger);
  await mailer.close();
  secrets.set('undo token', token);
  secrets.set('secret half of the undo token', token.split('.').at(-1) ?? '');
  hasNoSecret(t, queued, 'the database while the link is open');
  rejected(t, await post('change-email/undo', { token: `${token}x` }), 400, 'undo_link_invalid');
  t.equal((await post('change-email/undo', { token })).status, 200);
  hasNoSecret(t, await everyRow(app), 'the database after the link was used');
  hasNoSecret(t, app.logs.concat(mailer.logs).join(''), 'the logs');
});
