import t from 'tap';
import { createTestApp, password } from '../support/app.ts';
import { invalid, refused } from '../support/assertions.ts';
import { createSettledUser, newResetLink } from './mailbox.ts';
import { type Link, newPassword, passwordResetOf } from './password-reset.ts';

const app = await createTestApp();
t.teardown(app.close);

const hour = 3600;
const { request, validate, confirm, tryLogin, createUserWithLink } = passwordResetOf(app);

t.test('a wrong link is refused, and the right one still works', async (t) => {
  const { link, username } = await createUserWithLink();
  const stranger = await createUserWithLink();
  const flipped = link.token.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  const wrong: Link[] = [
    { ...link, token: flipped },
    { ...link, token: link.token.slice(0, -1) },
    { ...link, token: `${link.token}A` },
    { ...link, token: link.token.toLowerCase() },
    { ...link, token: stranger.link.token },
    { ...link, token: link.uid },
    { ...link, uid: stranger.link.uid },
    { ...link, uid: '00000000-0000-4000-8000-000000000000' },
    { ...link, uid: '1' },
    { ...link, uid: `${link.uid}' OR '1'='1` },
    { ...link, uid: '김두레' },
  ];
  for (const parts of wrong) {
    refused(t, await validate(parts), 400, 'reset_link_invalid');
    refused(t, await confirm(parts), 400, 'reset_link_invalid');
  }
  t.equal((await tryLogin(username, password)).status, 200);
  t.equal((await confirm(link)).status, 200);
});

t.test('a link works for an hour', async (t) => {
  for (const [age, status] of [
    [hour - 10, 200],
    [hour, 400],
  ] as const) {
    const { link, email } = await createUserWithLink();
    await app.pool.query(
      'UPDATE password_resets SET expires_at = expires_at - make_interval(secs => $2) WHERE email = $1',
      [email, age],
    );
    const answers = [await validate(link), await confirm(link)];
    for (const answer of answers) {
      t.equal(answer.status, status);
      if (status === 400) refused(t, answer, 400, 'reset_link_invalid');
    }
  }
});

t.test('a link is void after a newer request, but not after one inside the cooldown', async (t) => {
  const { link, email } = await createUserWithLink();
  await request(email);
  t.equal((await validate(link)).status, 200);
  const newer = await newResetLink(app, email);
  refused(t, await validate(link), 400, 'reset_link_invalid');
  refused(t, await confirm(link), 400, 'reset_link_invalid');
  t.equal((await confirm(newer)).status, 200);
});

t.test('a link is void after a password change', async (t) => {
  const { link, token } = await createUserWithLink();
  const body = { current_password: password, new_password: newPassword };
  t.equal((await app.call('POST', '/auth/change-password/', { token, body })).status, 200);
  refused(t, await validate(link), 400, 'reset_link_invalid');
  refused(t, await confirm(link, 'another-good-one-5'), 400, 'reset_link_invalid');
});

t.test('a request before the sign-up of its address mails no link', async (t) => {
  const email = 'requested-early@example.com';
  t.equal((await request(email)).status, 200);
  await app.mails.settled();
  await createSettledUser(app, { email });
  await app.mails.settled();
  t.notOk(app.mails.sent.some(({ to, text }) => to === email && text.includes('/reset-password?')));
});

t.test('a link works once', async (t) => {
  const { link, username } = await createUserWithLink();
  t.equal((await confirm(link)).status, 200);
  refused(t, await validate(link), 400, 'reset_link_invalid');
  refused(t, await confirm(link, 'another-good-one-5'), 400, 'reset_link_invalid');
  t.equal((await tryLogin(username, newPassword)).status, 200);
});

t.test('a bad new password is a validation error and does not use up the link', async (t) => {
  const user = await createSettledUser(app, { username: 'resetter', email: 'local-part@example.com' });
  const link = await newResetLink(app, user.email);
  for (const bad of [
    '',
    'short-7',
    'password1234',
    'PassWord',
    'my-Resetter-pass',
    'is-LOCAL-part-ok',
    'x'.repeat(129),
    'with\u0000nul-inside',
    12345678,
    null,
  ]) {
    invalid(t, await confirm(link, bad), 'new_password');
  }
  t.equal((await validate(link)).status, 200);
  t.equal((await tryLogin(user.username, password)).status, 200, 'the password is still the old one');
  const unusual = ` 가나 ${'🔑'.repeat(120)} `;
  t.equal((await confirm(link, unusual)).status, 200);
  t.equal((await tryLogin(user.username, unusual.normalize('NFD'))).status, 200);
  refused(t, await tryLogin(user.username, unusual.trim()), 401, 'invalid_credentials');
});

t.test('a link works after a rotation of JWT_SECRET while the old secret is kept', async (t) => {
  const { link, email } = await createUserWithLink();
  const old = 'a secret that only tests have 0123456789';
  const fresh = 'a newer secret that only tests have 9876543210';
  const query = new URLSearchParams({ ...link });
  const body = { email, code: '123456' };

  const rotated = await createTestApp({ JWT_SECRET: `${fresh},${old}` }, { databaseUrl: app.url });
  t.equal((await rotated.call('GET', `/auth/reset-password-validate/?${query}`)).status, 200);
  await rotated.close();

  const forgetful = await createTestApp({ JWT_SECRET: fresh }, { databaseUrl: app.url });
  const validated = await forgetful.call('GET', `/auth/reset-password-validate/?${query}`);
  const confirmed = await forgetful.call('POST', '/auth/email-verify/confirm/', { body });
  await forgetful.close();
  refused(t, validated, 400, 'reset_link_invalid');
  refused(t, confirmed, 400, 'invalid_code', { attempts_left: 4 });
});
