import type { Test } from 'tap';
import { type Answer, codeIn, password, type TestApp } from '../support/app.ts';

let counter = 0;

/** The body of a sign-up that nothing is wrong with, with a username and an address of its own. */
export function signUpBody(fields: Record<string, unknown> = {}): Record<string, unknown> & {
  username: string;
  email: string;
  password: string;
} {
  counter += 1;
  return {
    username: `guest${counter}`,
    email: `visitor${counter}@example.com`,
    name: '김두레',
    password,
    ...fields,
  };
}

/**
 * Asserts a refusal as the contract has it: its status and code, the envelope, one text in two places, nothing else in `data`
 * than `extra`, and the headers that go with it.
 */
export function refused(
  t: Test,
  answer: Answer,
  status: number,
  code: string,
  extra: Record<string, unknown> = {},
) {
  const detail = answer.body?.message;
  t.equal(answer.status, status, answer.text.slice(0, 300));
  t.strictSame(answer.body, { success: false, message: detail, data: { detail, code, ...extra } });
  t.match(detail, /\S/);
  t.match(answer.headers['content-type'], 'application/json');
  t.equal(answer.headers['cache-control'], 'no-store');
  if (status === 401) {
    const error = code === 'token_not_valid' ? ', error="invalid_token"' : '';
    t.equal(answer.headers['www-authenticate'], `Bearer realm="api"${error}`);
  } else {
    t.notOk(answer.headers['www-authenticate'], 'no challenge');
  }
  if (!('retry_after' in extra)) return;
  t.equal(answer.headers['retry-after'], String(extra.retry_after));
}

/** Asserts a refused token, exactly as section 7 of the interface specification shows it. */
export function tokenRefused(t: Test, answer: Answer, reason: string, type: 'access' | 'refresh' = 'access') {
  const token_class = type === 'access' ? 'AccessToken' : 'RefreshToken';
  const message = answer.body?.data?.messages?.[0]?.message;
  refused(t, answer, 401, 'token_not_valid', {
    messages: [{ token_class, token_type: type, message }],
    reason,
  });
  t.match(message, /\S/);
}

/** Asserts a validation error that names exactly these fields, each with at least one text. */
export function invalid(t: Test, answer: Answer, ...names: string[]) {
  const fields: Record<string, string[]> = answer.body?.data?.fields ?? {};
  refused(t, answer, 400, 'validation_error', { fields });
  t.strictSame(Object.keys(fields).sort(), names.sort(), answer.text.slice(0, 300));
  for (const texts of Object.values(fields)) {
    t.ok(texts.length > 0);
    for (const text of texts) t.match(text, /\S/);
  }
}

/** Proves an address with the code that is mailed to it. @returns the `verification_token` */
export async function proveAddress({ call, mails }: TestApp, email: string): Promise<string> {
  const before = mails.sent.filter(({ to }) => to === email).length;
  await call('POST', '/auth/email-verify/send/', { body: { email } });
  const code = codeIn(await mails.next(email, before));
  const confirmed = await call('POST', '/auth/email-verify/confirm/', { body: { email, code } });
  if (confirmed.status !== 200) throw new Error(`confirming failed: ${confirmed.text}`);
  return confirmed.body.data.verification_token;
}

/** Starts so many requests at once and returns the answers. */
export function inParallel(count: number, request: (index: number) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => request(index)));
}

/** How often each status occurs. */
export function statuses(answers: Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** What a token says, its signature left aside. */
// biome-ignore lint/suspicious/noExplicitAny: what a token holds is what the tests find out
export function decode(token: string): { header: any; claims: any } {
  const [header = '', claims = ''] = token.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  return { header: read(header), claims: read(claims) };
}

/** The session a token belongs to. */
export function sessionIdIn(token: string): string {
  return decode(token).claims.sid;
}

/** The count that a refresh token carries: the one claim that an access token does not have. */
export function countIn(refreshToken: string): number {
  const { aud, exp, iat, iss, jti, sid, sub, token_type, ...count } = decode(refreshToken).claims;
  return Number(Object.values(count)[0]);
}
