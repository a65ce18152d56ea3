/** Headers of answers. Those with `required` are on every answer that names them. */
export const answerHeaders = {
  XRequestId: {
    description: 'Names the request in the log of the service: the one that was sent, else a new one',
    required: true,
    schema: { type: 'string' },
    example: '3f1ab0e2-5b1f-4e0e-9a59-0d4a1b2c3d4e',
  },
  ContentLanguage: {
    description: 'The language of `message` and of the other texts for people',
    required: true,
    schema: { type: 'string', enum: ['ko', 'en'] },
    example: 'ko',
  },
  RateLimitLimit: {
    description: 'Requests per minute',
    schema: { type: 'integer', format: 'int32' },
    example: 600,
  },
  RateLimitRemaining: {
    description: 'Requests that are left in this minute',
    schema: { type: 'integer', format: 'int32' },
    example: 599,
  },
  RateLimitReset: {
    description: 'Seconds until the count starts again',
    schema: { type: 'integer', format: 'int32' },
    example: 60,
  },
  RetryAfter: {
    description: 'Seconds until another try makes sense',
    required: true,
    schema: { type: 'integer', format: 'int32', minimum: 1 },
    example: 30,
  },
  WWWAuthenticate: {
    description: 'The challenge; `error="invalid_token"` when a token was sent',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer realm="api", error="invalid_token"',
  },
  ETag: {
    description: 'Of this answer: send it as `If-None-Match`',
    required: true,
    schema: { type: 'string' },
    example: '"3-ko"',
  },
  IdempotencyReplayed: {
    description: 'Only when this is the first answer to the same `Idempotency-Key` again',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  Allow: {
    description: 'Only with 405: the methods of the path',
    schema: { type: 'string' },
    example: 'GET, HEAD',
  },
};

/** The component of each header. */
const headerComponents = {
  'X-Request-Id': 'XRequestId',
  'Content-Language': 'ContentLanguage',
  'RateLimit-Limit': 'RateLimitLimit',
  'RateLimit-Remaining': 'RateLimitRemaining',
  'RateLimit-Reset': 'RateLimitReset',
  'Retry-After': 'RetryAfter',
  'WWW-Authenticate': 'WWWAuthenticate',
  ETag: 'ETag',
  'Idempotency-Replayed': 'IdempotencyReplayed',
  Allow: 'Allow',
} as const satisfies Record<string, keyof typeof answerHeaders>;

export type HeaderName = keyof typeof headerComponents;

/** References to headers, as an answer has them. */
export function headerReferences(names: readonly HeaderName[]) {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${headerComponents[name]}` }]),
  );
}

/** The language of the answer: a parameter of every operation that answers people. */
export const acceptLanguage = {
  name: 'Accept-Language',
  in: 'header',
  description:
    'The language of `message` and of the other texts for people: Korean unless English is preferred',
  schema: { type: 'string' },
  example: 'ko',
};
