import t from 'tap';
import { createTestApp, password, resetLinkIn } from '../support/app.ts';
import { refused, tally, tokenRefused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { createSettledUser, latestMail, mailsTo, passTime } from './mailbox.ts';
import { newPassword, passwordResetOf } from './password-reset.ts';

const app = await createTestApp();
t.teardown(app.close);

const { request, validate, confirm, tryLogin, createUserWithLink } = passwordResetOf(app);
const me = (token: string) => app.call('GET', '/auth/me/', { token });

t.test('20 concurrent requests mail one link', async (t) => {
  const { email } = await createSettledUser(app);
  const before = (await mailsTo(app, email)).length;
  t.strictSame(tally(await inParallel(20, () => request(email))), { '200': 20 });
  t.equal((await mailsTo(app, email)).length - before, 1);
  t.equal((await validate(resetLinkIn(await latestMail(app, email)))).status, 200);
});

t.test('of 20 concurrent uses of a link, one succeeds and sets its password', async (t) => {
  const { link, username, email } = await createUserWithLink();
  const mailed = (await mailsTo(app, email)).length;
  const answers = await inParallel(20, (index) => confirm(link, `${newPassword}-${index}`));
  t.strictSame(tally(answers), { '200': 1, '400 reset_link_invalid': 19 });
  const winner = answers.findIndex(({ status }) => status === 200);
  t.equal((await tryLogin(username, `${newPassword}-${winner}`)).status, 200);
  t.equal((await mailsTo(app, email)).length - mailed, 1, 'one notice');
});

t.test('a login with the old password during a reset leaves no session', async (t) => {
  const user = await createUserWithLink();
  const [reset, ...logins] = await Promise.all([
    confirm(user.link),
    ...Array.from({ length: 9 }, () => tryLogin(user.username, password)),
  ]);
  t.equal(reset.status, 200);
  t.strictSame(
    Object.keys(tally(logins)).filter((kind) => !/^200$|invalid_credentials/.test(kind)),
    [],
  );
  for (const { status, body } of logins) {
    if (status === 200) tokenRefused(t, await me(body.data.access), 'revoked');
  }
});

t.test('a concurrent reset and password change leave one password and no other session', async (t) => {
  const user = await createUserWithLink();
  const body = { current_password: password, new_password: `${newPassword}-changed` };
  const [reset, change] = await Promise.all([
    confirm(user.link),
    app.call('POST', '/auth/change-password/', { token: user.token, body }),
  ]);
  t.ok([reset, change].some(({ status }) => status === 200));
  t.ok([reset, change].every(({ status }) => status < 500));
  const works = [newPassword, body.new_password, password].map(async (word) => tryLogin(user.username, word));
  t.strictSame(tally(await Promise.all(works)), { '200': 1, '401 invalid_credentials': 2 });
  if (reset.status === 200) tokenRefused(t, await me(user.token), 'revoked');
});

t.test('a concurrent reset and newer request void the old link', async (t) => {
  const { link, username, email } = await createUserWithLink();
  await passTime(app, email, 60);
  const [reset, newer] = await Promise.all([confirm(link), request(email)]);
  t.equal(newer.status, 200);
  if (reset.status !== 200) refused(t, reset, 400, 'reset_link_invalid');
  const login = await tryLogin(username, reset.status === 200 ? newPassword : password);
  t.equal(login.status, 200);
  refused(t, await confirm(link, 'another-good-one-5'), 400, 'reset_link_invalid');
});
