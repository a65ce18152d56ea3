import type { Test } from 'tap';
import type { Answer } from './app.ts';

/** Traces of the implementation that no answer may show: stacks, SQL, files, libraries. */
const internals =
  /\bat .*:\d+|node_modules|\.ts\b|\.js\b|\/work\/|SELECT |INSERT |UPDATE |relation|column|prisma|postgres|fastify|FST_|ECONN/i;

const hasText = (value: unknown) => typeof value === 'string' && /\S/.test(value);

/**
 * Asserts a refusal as the contract has it: status and code in the envelope, the same text as `message` and `detail`,
 * nothing in `data` beyond `extra`, the headers that belong to the status, and no trace of the implementation.
 */
export function refused(
  t: Test,
  { status, headers, body, text }: Answer,
  expectedStatus: number,
  code: string,
  extra: Record<string, unknown> = {},
): void {
  const detail = body?.message;
  const invalidToken = code === 'token_not_valid' ? ', error="invalid_token"' : '';
  t.strictSame(
    {
      status,
      body,
      type: headers['content-type'],
      challenge: headers['www-authenticate'],
      retryAfter: 'retry_after' in extra ? headers['retry-after'] : undefined,
      hasRequestId: /^[A-Za-z0-9._-]{1,64}$/.test(String(headers['x-request-id'])),
      hasText: hasText(detail),
      internals: internals.exec(text)?.[0],
    },
    {
      status: expectedStatus,
      body: { success: false, message: detail, data: { detail, code, ...extra } },
      type: 'application/json; charset=utf-8',
      challenge: expectedStatus === 401 ? `Bearer realm="api"${invalidToken}` : undefined,
      retryAfter: 'retry_after' in extra ? String(extra.retry_after) : undefined,
      hasRequestId: true,
      hasText: true,
      internals: undefined,
    },
    `${expectedStatus} ${code}, got ${text.slice(0, 300)}`,
  );
}

/**
 * Asserts a validation error that names exactly these fields, each with at least one text.
 *
 * @returns the texts of each field
 */
export function invalid(t: Test, answer: Answer, ...names: string[]): Record<string, string[]> {
  const fields: Record<string, string[]> = answer.body?.data?.fields ?? {};
  const expected = names.map((name) => {
    const texts = fields[name] ?? [];
    return [name, texts.length > 0 && texts.every(hasText) ? texts : ['a text']];
  });
  refused(t, answer, 400, 'validation_error', { fields: Object.fromEntries(expected) });
  return fields;
}

/** Asserts a refused token, exactly as section 7 of the interface specification shows it. */
export function tokenRefused(
  t: Test,
  answer: Answer,
  reason: string,
  type: 'access' | 'refresh' = 'access',
): void {
  const token_class = type === 'access' ? 'AccessToken' : 'RefreshToken';
  const message = answer.body?.data?.messages?.[0]?.message;
  const messages = [{ token_class, token_type: type, message: hasText(message) ? message : 'a text' }];
  refused(t, answer, 401, 'token_not_valid', { messages, reason });
}

/** Asserts `too_many_attempts` with a wait of `least` to `most` seconds. */
export function delayed(t: Test, answer: Answer, most: number, least = 1): void {
  waits(t, answer, 'too_many_attempts', most, least);
}

/** Asserts `quota_exceeded` with a wait of `least` to `most` seconds. */
export function exhausted(t: Test, answer: Answer, most: number, least = 1): void {
  waits(t, answer, 'quota_exceeded', most, least);
}

function waits(t: Test, answer: Answer, code: string, most: number, least: number): void {
  const wait: unknown = answer.body?.data?.retry_after;
  refused(t, answer, 429, code, { retry_after: wait });
  const isInRange = Number.isInteger(wait) && Number(wait) >= least && Number(wait) <= most;
  t.ok(isInRange, `${wait} s is a wait of ${least} to ${most} s`);
}

/** Asserts `service_unavailable` with `Retry-After`. */
export function unavailable(t: Test, answer: Answer): void {
  refused(t, answer, 503, 'service_unavailable');
  t.match(answer.headers['retry-after'], /^[1-9]\d*$/);
}

/** Asserts that a log has no error in it. */
export function noErrorLogged(t: Test, logs: string[]): void {
  t.strictSame(
    logs.filter((line) => JSON.parse(line).level >= 50),
    [],
    'no error is logged',
  );
}

/** How many answers there are of each status and code, as in `{ '200': 1, '400 invalid_code': 19 }`. */
export function tally(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const kind = status < 300 ? String(status) : `${status} ${body?.data?.code}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
