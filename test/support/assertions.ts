import type { Test } from 'tap';
import type { TestResponse } from './app.ts';

/** Traces of the implementation that no response may show: stacks, SQL, files, libraries. */
const internals =
  /\bat (?:\S+ \(|\S*:\d)|node_modules|\.ts\b|\.js\b|\/work\/|SELECT |INSERT |UPDATE |relation|column|prisma|postgres|fastify|FST_|ECONN/i;

const hasText = (value: unknown) => typeof value === 'string' && /\S/.test(value);

/**
 * Asserts a rejection as the contract has it: status and code in the envelope, the same text as `message` and `detail`,
 * nothing in `data` beyond `extra`, the headers that belong to the status, and no trace of the implementation.
 */
export function rejected(
  t: Test,
  { status, headers, body, text }: TestResponse,
  expectedStatus: number,
  code: string,
  given: Record<string, unknown> = {},
): void {
  const detail = body?.message;
  const extra = { ...takenFields(code, detail), ...given };
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

/** What `username_taken` and `email_taken` say about their field. */
function takenFields(code: string, message: string): Record<string, unknown> {
  const field = { username_taken: 'username', email_taken: 'email' }[code];
  if (field === undefined) return {};
  return { fields: { [field]: [message] }, errors: [{ field, code: 'taken', message }] };
}

/** The parameter that comes with a code of a field error; the others have none. */
function paramOf(code: string): string {
  if (code === 'not_allowed') return 'allowed';
  if (/^too_(?:short|small|few)$/.test(code)) return 'min';
  return /^too_(?:long|large|many)$/.test(code) ? 'max' : '';
}

/** Texts that say only that something is wrong. */
const vagueText =
  /형식이 올바르지|올바르지 않은 (?:값|형식)|^(?:The )?(?:format|value) is (?:not valid|invalid)/i;

interface FieldError {
  field: string;
  code: string;
  message: string;
  params?: Record<string, unknown>;
}

/**
 * What is wrong with the `fields` and `errors` of a rejection: there is one error for each text, in the same order, at most 20, each
 * with the parameters of its code, and each text names the rule.
 */
export function fieldErrorProblems({ fields = {}, errors = [] }: Record<string, unknown> = {}): string[] {
  const texts = Object.entries(fields as Record<string, string[]>).flatMap(([field, messages]) =>
    messages.map((message) => ({ field, message })),
  );
  const given = errors as FieldError[];
  const isSame =
    given.length === texts.length &&
    texts.every(({ field, message }, at) => given[at]?.field === field && given[at].message === message);
  return [
    ...(isSame ? [] : [`the errors are not those of the fields: ${JSON.stringify({ fields, errors })}`]),
    ...(given.length <= 20 ? [] : [`${given.length} errors`]),
    ...given.flatMap(({ code, message, params = {} }) => [
      // `too_small` of a date has no parameter.
      ...(Object.keys(params).join() === paramOf(code) ||
      (code === 'too_small' && !/\d/.test(message) && Object.keys(params).length === 0)
        ? []
        : [`${code} has the parameters ${JSON.stringify(params)}`]),
      ...(vagueText.test(message) ? [`"${message}" names no rule`] : []),
    ]),
  ];
}

/**
 * Asserts a validation error that names exactly these fields, each with at least one text.
 *
 * @returns the texts of each field
 */
export function invalid(t: Test, response: TestResponse, ...names: string[]): Record<string, string[]> {
  const fields: Record<string, string[]> = response.body?.data?.fields ?? {};
  const expected = names.map((name) => {
    const texts = fields[name] ?? [];
    return [name, texts.length > 0 && texts.every(hasText) ? texts : ['a text']];
  });
  const errors = response.body?.data?.errors;
  rejected(t, response, 400, 'validation_error', { fields: Object.fromEntries(expected), errors });
  t.strictSame(fieldErrorProblems(response.body?.data), []);
  return fields;
}

/** Asserts a rejected token, in exactly the promised shape. */
export function tokenRejected(
  t: Test,
  response: TestResponse,
  reason: string,
  type: 'access' | 'refresh' = 'access',
): void {
  const token_class = type === 'access' ? 'AccessToken' : 'RefreshToken';
  const message = response.body?.data?.messages?.[0]?.message;
  const messages = [{ token_class, token_type: type, message: hasText(message) ? message : 'a text' }];
  rejected(t, response, 401, 'token_not_valid', { messages, reason });
}

/** Asserts `too_many_attempts` with a wait of `least` to `most` seconds. */
export function delayed(t: Test, response: TestResponse, most: number, least = 1): void {
  waits(t, response, 'too_many_attempts', most, least);
}

/** Asserts `quota_exceeded` with a wait of `least` to `most` seconds. */
export function exhausted(t: Test, response: TestResponse, most: number, least = 1): void {
  waits(t, response, 'quota_exceeded', most, least);
}

function waits(t: Test, response: TestResponse, code: string, most: number, least: number): void {
  const wait: unknown = response.body?.data?.retry_after;
  rejected(t, response, 429, code, { retry_after: wait });
  const isInRange = Number.isInteger(wait) && Number(wait) >= least && Number(wait) <= most;
  t.ok(isInRange, `${wait} s is a wait of ${least} to ${most} s`);
}

/** Asserts `service_unavailable` with `Retry-After`. */
export function unavailable(t: Test, response: TestResponse): void {
  rejected(t, response, 503, 'service_unavailable');
  t.match(response.headers['retry-after'], /^[1-9]\d*$/);
}

/** Asserts that a log has no error in it. */
export function noErrorLogged(t: Test, logs: string[]): void {
  const errors = logs.filter((line) => JSON.parse(line).level >= 50);
  t.strictSame(errors, [], 'no error is logged');
}

/** How many responses there are of each status and code, as in `{ '200': 1, '400 invalid_code': 19 }`. */
export function tally(responses: TestResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of responses) {
    const kind = status < 300 ? String(status) : `${status} ${body?.data?.code}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
