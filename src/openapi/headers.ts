import { addressLimit, clientLimit, userLimit } from '../http/plugins/rate-limits.ts';
import { maxId } from '../http/schemas.ts';

const text = { type: 'string', maxLength: 1000 };
const integer = { type: 'integer', format: 'int32', minimum: 0, maximum: maxId };

const optional = (description: string, schema: object, example: unknown) => ({
  description,
  schema,
  example,
});
/** A header of every response that names it. */
const always = (description: string, schema: object, example: unknown) => ({
  description,
  required: true,
  schema,
  example,
});

const headers = {
  'X-Request-Id': always(
    'Names the request in the log of the service: the one that was sent, where it is 1-64 of `A-Za-z0-9._-`, else a new one',
    { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$', maxLength: 64 },
    '3f1ab0e2-5b1f-4e0e-9a59-0d4a1b2c3d4e',
  ),
  'Content-Language': always(
    'The language of `message` and of the other texts for people',
    { type: 'string', enum: ['ko', 'en'] },
    'ko',
  ),
  'RateLimit-Limit': optional(
    `Requests per minute: ${userLimit.max} of one user, ${clientLimit.max} of one address without a user, ${addressLimit.max.toLocaleString('en')} of all users at one address, fewer where the operation says so`,
    integer,
    600,
  ),
  'RateLimit-Remaining': optional('Requests that are left in this minute', integer, 599),
  'RateLimit-Reset': optional('Seconds until the count starts again', integer, 60),
  'Retry-After': always('Seconds until another try makes sense', { ...integer, minimum: 1 }, 30),
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
  Location: always('The path of what was created', { ...text, format: 'uri-reference' }, '/api/v1/posts/1/'),
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
  Allow: optional(
    'Only with 405: the methods of the path',
    { ...text, pattern: '^[A-Z]+(, [A-Z]+)*$' },
    'GET, HEAD',
  ),
};

export type HeaderName = keyof typeof headers;

const componentOf = (name: string) => name.replaceAll('-', '');

/** The components of all headers, by name. */
export const headerComponents = Object.entries(headers).map(
  ([name, header]) => [componentOf(name), header] as const,
);

/** References to headers, as a response has them. */
export function headerReferences(names: readonly HeaderName[]) {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${componentOf(name)}` }]),
  );
}

/** The language of the response: a parameter of every operation that responds in the envelope. */
export const acceptLanguage = {
  name: 'Accept-Language',
  in: 'header',
  description:
    'The language of `message` and of the other texts for people: Korean unless English is preferred',
  schema: { type: 'string' },
  example: 'ko',
};
