import { maxId } from '../http/schemas.ts';

const text = { type: 'string', maxLength: 1000 };

const optional = (description: string, schema: object, example: unknown) => ({
  description,
  schema,
  example,
});
/** A header of every response that names it. */
const always = (...parts: Parameters<typeof optional>) => ({ required: true, ...optional(...parts) });

/** Those that only some responses have; the introduction of the document describes the others. */
const headers = {
  'Retry-After': always(
    'Seconds until another try makes sense',
    { type: 'integer', format: 'int32', minimum: 1, maximum: maxId },
    30,
  ),
  'WWW-Authenticate': always(
    'The challenge; `error="invalid_token"` when a token was sent',
    { ...text, pattern: '^Bearer realm=' },
    'Bearer realm="api", error="invalid_token"',
  ),
  ETag: always(
    'Of this version: for `If-None-Match` and `If-Match`',
    { ...text, pattern: '^[!-~]+$' },
    '"3q2-7wAAESIzRFVmd4iZqr-ko"',
  ),
  Location: always(
    'The path of what was created, or the page to which the browser goes on',
    { ...text, format: 'uri-reference' },
    '/api/v1/posts/1/',
  ),
  'Idempotency-Replayed': optional(
    'Only when this is the stored response to the same `Idempotency-Key`',
    { type: 'string', const: 'true' },
    'true',
  ),
  'Set-Cookie': optional(
    'Only with `X-Refresh-Token: cookie`: the refresh token, or an empty value that clears it. On plain HTTP outside production its name is `dure-refresh`',
    { type: 'string', pattern: '^(__Host-)?dure-refresh=', maxLength: 4096 },
    '__Host-dure-refresh=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.Zm9yIGV4YW1wbGUgb25seQ; Max-Age=1209600; Path=/; HttpOnly; Secure; SameSite=Strict',
  ),
};

type HeaderName = keyof typeof headers;

const componentOf = (name: string) => name.replaceAll('-', '');

/** The components of all headers, by name. */
export const headerComponents = Object.entries(headers).map(
  ([name, header]) => [componentOf(name), header] as const,
);

/** References to the headers that a response has; undefined where it has none. */
export function headerReferences(has: Partial<Record<HeaderName, boolean | undefined>>) {
  const names = Object.entries(has).flatMap(([name, isThere]) => (isThere ? name : []));
  if (names.length === 0) return undefined;
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${componentOf(name)}` }]),
  );
}
