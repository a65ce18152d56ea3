const text = { type: 'string' };
const integer = { type: 'integer', format: 'int32' };

/** Headers of responses. Those with `required` are on every response that names them. */
const headers = {
  'X-Request-Id': {
    description: 'Names the request in the log of the service: the one that was sent, else a new one',
    required: true,
    schema: text,
    example: '3f1ab0e2-5b1f-4e0e-9a59-0d4a1b2c3d4e',
  },
  'Content-Language': {
    description: 'The language of `message` and of the other texts for people',
    required: true,
    schema: { ...text, enum: ['ko', 'en'] },
    example: 'ko',
  },
  'RateLimit-Limit': { description: 'Requests per minute', schema: integer, example: 600 },
  'RateLimit-Remaining': {
    description: 'Requests that are left in this minute',
    schema: integer,
    example: 599,
  },
  'RateLimit-Reset': { description: 'Seconds until the count starts again', schema: integer, example: 60 },
  'Retry-After': {
    description: 'Seconds until another try makes sense',
    required: true,
    schema: { ...integer, minimum: 1 },
    example: 30,
  },
  'WWW-Authenticate': {
    description: 'The challenge; `error="invalid_token"` when a token was sent',
    required: true,
    schema: text,
    example: 'Bearer realm="api", error="invalid_token"',
  },
  ETag: {
    description: 'Of this response: send it as `If-None-Match`',
    required: true,
    schema: text,
    example: '"3-ko"',
  },
  'Idempotency-Replayed': {
    description: 'Only when this is the stored response to the same `Idempotency-Key`',
    schema: { ...text, const: 'true' },
    example: 'true',
  },
  Allow: { description: 'Only with 405: the methods of the path', schema: text, example: 'GET, HEAD' },
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
  schema: text,
  example: 'ko',
};
