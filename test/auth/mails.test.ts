import t, { type Test } from 'tap';
import type { OutgoingMail } from '../../src/infrastructure/mail/transport.ts';
import { codeIn, createTestApp, createUser, password, resetLinkIn } from '../support/app.ts';
import { accountsOf, newPassword, signUpBody } from './accounts.ts';
import { about, createVerifiedUser, latestMail, mailsTo, newResetLink, passTime } from './mailbox.ts';

const app = await createTestApp({
  FRONTEND_URL: 'https://shop.example.com/app/',
  EMAIL_CODE_TTL: '5m',
  PASSWORD_RESET_TTL: '2h',
  VERIFICATION_TOKEN_TTL: '90s',
});

const hangul = /[가-힣]/;
const auth = accountsOf(app);
const post = (path: string, body: unknown, language: string, token?: string) =>
  auth.post(path, body, { headers: { 'accept-language': language }, token });

/** The email that a request causes. */
async function mailAfter(email: string, request: () => Promise<{ status: number; text: string }>) {
  await passTime(app, email, 3600);
  const skip = (await mailsTo(app, email)).length;
  const response = await request();
  if (response.status >= 300) throw new Error(response.text);
  return app.mails.next(email, skip);
}

/** Asserts that an email is in a language, and has some texts. */
function isMail(t: Test, mail: OutgoingMail, language: string, ...texts: string[]) {
  const { text } = mail;
  t.equal(hangul.test(text), language === 'ko', text);
  for (const part of texts) t.ok(text.includes(part), `the text has ${part}`);
  t.match(mail.idempotencyKey, /^\S{1,256}$/);
}

for (const language of ['ko', 'en']) {
  const [minutes, hours] = language === 'ko' ? ['5분', '2시간'] : ['5 minutes', '2 hours'];

  t.test(`every email about an account, in ${language}`, async (t) => {
    const body = signUpBody();
    const ofSignUp = await mailAfter(body.email, () => post('signup', body, language));
    isMail(t, ofSignUp, language, codeIn(ofSignUp), minutes);

    const free = { email: `code-${language}@example.com` };
    const requested = await mailAfter(free.email, () => post('email-verify/send', free, language));
    isMail(t, requested, language, codeIn(requested), minutes);

    const user = await createVerifiedUser(app, { name: 'Mina' });
    const { email, username, name, token } = user;
    const sendTo = (path: string) => mailAfter(email, () => post(path, { email }, language));
    isMail(t, await sendTo('email-verify/send'), language, username, 'https://shop.example.com/app/');
    isMail(t, await sendTo('find-id'), language, username, name, 'https://shop.example.com/app/login');
    const link = await sendTo('reset-password-request');
    const { url } = resetLinkIn(link);
    isMail(t, link, language, url, hours, name);
    t.match(url, /^https:\/\/shop\.example\.com\/app\/reset-password\?uid=[^&]+&token=[^&]+$/);

    const change = { current_password: password, new_password: newPassword };
    const changed = await mailAfter(email, () => post('change-password', change, language, token));
    isMail(t, changed, language, name);
    t.notMatch(changed.text + changed.html, newPassword);
    const reset = { ...(await newResetLink(app, email)), new_password: newPassword };
    isMail(t, await mailAfter(email, () => post('reset-password-confirm', reset, language)), language, name);
  });
}

t.test('an email without a preference is Korean, whatever the language of the account', async (t) => {
  const body = signUpBody();
  await post('signup', body, 'en');
  await post('login', { username: body.username, password }, 'en');
  const { email } = body;
  t.match((await mailAfter(email, () => auth.post('find-id', { email }))).subject, hangul);
});

t.test('the durations are configurable', async (t) => {
  const email = 'durations@example.com';
  const sent = await post('email-verify/send', { email }, 'ko');
  t.match(sent.body.data, { accepted: true, expires_in: 300 });
  const code = codeIn(await latestMail(app, email));
  t.equal((await auth.confirm({ email, code })).body.data.expires_in, 90);

  const user = await createUser(app);
  const { expires_at } = (await auth.validateReset(await newResetLink(app, user.email))).body.data;
  about(t, Math.ceil((Date.parse(expires_at) - Date.now()) / 1_000), 7_200);
});
