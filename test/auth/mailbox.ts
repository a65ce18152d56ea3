import type { Test } from 'tap';
import type { OutgoingMail } from '../../src/infrastructure/mail/transport.ts';
import {
  codeIn,
  createUser,
  resetLinkIn,
  type TestApp,
  type TestResponse,
  verifyEmails,
} from '../support/app.ts';

/** Makes the sends to an address older, so that cooldowns and caps need no waiting. */
export async function passTime({ pool }: TestApp, email: string, seconds: number): Promise<void> {
  await pool.query(
    `UPDATE mail_sends SET sent_at = ARRAY(SELECT t - make_interval(secs => $2) FROM unnest(sent_at) t ORDER BY t)
     WHERE email = $1`,
    [email, seconds],
  );
}

/** The emails that went to an address so far, once the queue is empty. */
export async function mailsTo({ mails }: TestApp, email: string) {
  await mails.settled();
  return mails.sent.filter(({ to }) => to === email);
}

/** The newest email to an address, once the queue is empty. */
export async function latestMail(app: TestApp, email: string) {
  const mail = (await mailsTo(app, email)).at(-1);
  if (mail === undefined) throw new Error(`no email to ${email}`);
  return mail;
}

export async function latestCode(app: TestApp, email: string): Promise<string> {
  return codeIn(await latestMail(app, email));
}

/** The reset link in the newest email to an address. */
export const latestResetLink = async (app: TestApp, email: string) =>
  resetLinkIn(await latestMail(app, email));

/** The token of the link to undo a change of email, in the newest notice to the old one. */
export async function latestUndoToken(app: TestApp, email: string): Promise<string> {
  const link = /https:\/\/app\.example\.com\/undo-email-change\?token=(\S+)/;
  const tokens = (await mailsTo(app, email)).flatMap(({ text }) => link.exec(text)?.[1] ?? []);
  const token = tokens.at(-1);
  if (token === undefined) throw new Error('no email has a link to undo a change');
  return token;
}

/** The token of the link in an email with a code. */
export function verifyLinkTokenIn({ text }: OutgoingMail): string {
  const token = /^https:\/\/app\.example\.com\/verify-email\?token=(\S+)$/m.exec(text)?.[1];
  if (token === undefined) throw new Error('the email has no link');
  return token;
}

/** Requests a reset link, past any cooldown, and reads it in the email. */
export async function newResetLink(app: TestApp, email: string): Promise<{ uid: string; token: string }> {
  await passTime(app, email, 3600);
  const skip = (await mailsTo(app, email)).length;
  await app.call('POST', '/auth/reset-password-request/', { body: { email } });
  const { uid, token } = resetLinkIn(await app.mails.next(email, skip));
  return { uid, token };
}

/** An account with a verified address. */
export async function createVerifiedUser(app: TestApp, fields: Record<string, unknown> = {}) {
  const user = await createUser(app, fields);
  await verifyEmails(app, user);
  return user;
}

/** Asserts that a countdown began at `expected` seconds, of which no third is over. */
export function about(t: Test, seconds: unknown, expected: number): void {
  const wait = Number(seconds);
  const isRight = Number.isInteger(seconds) && wait <= expected && wait > (expected * 2) / 3;
  t.ok(isRight, `${wait} is about ${expected}`);
}

/** Asserts that a time is of the last ten minutes. The clocks of two processor cores may differ a little. */
export function isRecent(t: Test, time: string): void {
  const milliseconds = Date.parse(time) - Date.now();
  t.ok(milliseconds > -600_000 && milliseconds < 1_000, time);
}

/** Status, headers and body of a response to compare responses: without request id, date and countdown, which pass with time. */
export function comparable({ status, headers, text }: TestResponse) {
  const { 'x-request-id': _id, date: _date, ...rest } = headers;
  return { status, headers: rest, text: text.replace(/(?<="resend_after":)\d+/, '') };
}
