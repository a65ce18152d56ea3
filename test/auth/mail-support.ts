import type { Test } from 'tap';
import { type Answer, codeIn, createUser, resetLinkIn, type TestApp } from '../support/app.ts';
import { inParallel, refused } from './auth-support.ts';

/** Makes the mails that an address asked for older, so that cooldowns and caps need no waiting. */
export async function passTime({ pool }: TestApp, email: string, seconds: number): Promise<void> {
  await pool.query(
    `UPDATE mail_sends SET sent_at = ARRAY(SELECT t - make_interval(secs => $2) FROM unnest(sent_at) t ORDER BY t)
     WHERE email = $1`,
    [email, seconds],
  );
}

/** The mails that went to an address so far, once the queue is empty. */
export async function mailsTo({ mails }: TestApp, email: string) {
  await mails.settled();
  return mails.sent.filter(({ to }) => to === email);
}

/** The newest mail to an address, once the queue is empty. */
export async function latestMail(app: TestApp, email: string) {
  const mail = (await mailsTo(app, email)).at(-1);
  if (mail === undefined) throw new Error(`no mail to ${email}`);
  return mail;
}

export async function latestCode(app: TestApp, email: string): Promise<string> {
  return codeIn(await latestMail(app, email));
}

/** Asks for a reset link, whatever was asked for before, and reads it in the mail. */
export async function newResetLink(app: TestApp, email: string): Promise<{ uid: string; token: string }> {
  await passTime(app, email, 3600);
  const skip = (await mailsTo(app, email)).length;
  await app.call('POST', '/auth/reset-password-request/', { body: { email } });
  const { uid, token } = resetLinkIn(await app.mails.next(email, skip));
  return { uid, token };
}

/** An account whose sign-up was mailed already, so that the next mail is the one that a test asks for. */
export async function createSettledUser(app: TestApp, fields: Record<string, unknown> = {}) {
  const user = await createUser(app, fields);
  await app.mails.settled();
  return user;
}

/** An account whose address is verified, and which may be mailed again at once. */
export async function createVerifiedUser(app: TestApp, fields: Record<string, unknown> = {}) {
  const user = await createUser(app, fields);
  const body = { email: user.email, code: await latestCode(app, user.email) };
  const verified = await app.call('POST', '/auth/email-verify/confirm/', { body });
  if (verified.status !== 200) throw new Error(verified.text);
  await passTime(app, user.email, 3600);
  return user;
}

/** Asserts that a wait counted down from `expected` seconds; a slow machine may have taken some of them. */
export function about(t: Test, seconds: unknown, expected: number): void {
  const wait = Number(seconds);
  t.ok(Number.isInteger(seconds) && wait <= expected && wait > expected - 20, `${wait} is about ${expected}`);
}

/** Asserts `too_many_attempts` with a wait of at most so many seconds. */
export function delayed(t: Test, answer: Answer, most: number): void {
  const wait: unknown = answer.body?.data?.retry_after;
  refused(t, answer, 429, 'too_many_attempts', { retry_after: wait });
  t.ok(Number.isInteger(wait) && Number(wait) >= 1 && Number(wait) <= most, `the wait is up to ${most} s`);
}

/** All of an answer that must be the same for everybody: status, headers and body, without ids and times. */
export function comparable({ status, headers, text }: Answer) {
  const { 'x-request-id': _id, date: _date, ...rest } = headers;
  return { status, headers: rest, text };
}

/** How many answers there are of each kind, as in `{ '200': 1, '400 invalid_code': 19 }`. */
export function tally(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const kind = status < 300 ? String(status) : `${status} ${body?.data?.code}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** Starts twenty requests at once. */
export function twentyAtOnce(request: (index: number) => Promise<Answer>): Promise<Answer[]> {
  return inParallel(20, request);
}

/** Resolves when a request waits for a row that another transaction holds. @throws after 5 seconds without one */
export async function somebodyWaits({ pool }: TestApp): Promise<void> {
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; ) {
    const { rowCount } = await pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (rowCount !== 0) return;
  }
  throw new Error('nobody waits for a lock');
}
