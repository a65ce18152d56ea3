import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { addressLimit, clientLimit, userLimit } from '../http/plugins/rate-limits.ts';

/** What the document says about the service as a whole. */
export const information = {
  openapi: '3.1.0',
  info: {
    title: 'Dure',
    version: '0.1.0',
    summary: 'Neighbourhood shops find partners and answer each other',
    description: `Shops sign up, register their store, publish what kind of partnership they are looking for, send each other partnership requests and get notified about them.

## Responses

Every JSON response except those of \`/health/\` and \`/.well-known/\` is \`{ success, message, data }\`. \`message\` is for people and follows \`Accept-Language\` (Korean by default, English); \`data.code\` of an error is for programs: one of \`ErrorCode\`, and it never changes its meaning. The schema of an error's \`data\` follows from its \`code\`.

A \`validation_error\` names up to 20 wrong values, each twice: \`data.fields\` has texts for people, \`data.errors\` has codes and parameters for programs. Unknown fields and unknown query parameters are rejected; an empty query parameter is ignored. A body may have 32 KiB, that of a post 128 KiB, an image 10 MiB.

Canonical paths end with a slash; the same path without it is the same. A path that does not exist is 404 \`not_found\`, a method that it does not have 405 \`method_not_allowed\` with \`Allow\`, a path and query of more than 2,048 bytes 414 \`uri_too_long\`. What is not valid HTTP is rejected before it reaches an operation: 400 \`malformed_request\`, 408 \`request_timeout\`, 431 \`headers_too_large\`.

Every response has an \`X-Request-Id\`: the one that was sent, where it is 1-64 of \`A-Za-z0-9._-\`, else a new one.

## Authentication

\`logIn\` gives an access token (15 minutes) and a refresh token (14 days, renewed by each refresh). Send the access token as \`Authorization: Bearer <access>\`. A 401 says in \`data.code\` and \`data.reason\` what to do:

| \`code\` | \`reason\` | what to do |
|---|---|---|
| \`token_not_valid\` of an access token | \`expired\` | call \`refreshToken\`, then send the request again |
| \`token_not_valid\` of an access token | \`revoked\`, \`reused\`, \`malformed\` | log in again |
| \`token_not_valid\` of an access token | \`wrong_type\` | send the access token, not the refresh token |
| \`token_not_valid\` of \`refreshToken\` | any | log in again |
| \`not_authenticated\` | | send a token |
| \`invalid_credentials\` | | ask for the password again |

A refresh token is replaced by each refresh. The one that was replaced is still accepted for 10 seconds, so that two tabs and lost responses do no harm; after that it ends the session (\`reused\`). Refresh once at a time.

## Limits

Requests are counted per minute: ${userLimit.max} of one user, ${clientLimit.max} of one address without a user, ${addressLimit.max.toLocaleString('en')} of all users at one address. Operations that invite guessing have a limit of their own, named in their description. \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` say how many requests are left. After 429 and 503, \`Retry-After\` is the number of seconds to wait.

## Compatibility

The version of this document follows semantic versioning. These changes may come at any time, so a client must accept them: new operations, new optional parameters and fields of a body, new fields of a response, new values of an enum of a response (also new codes of errors), another text of a \`message\`, another order of fields. What is deprecated is marked \`deprecated\`, named in the change log, and works for at least six months. Everything else is a breaking change and raises the major version.`,
    contact: { name: 'The maintainers of Dure' },
    license: { name: 'MIT', identifier: 'MIT' },
  },
  externalDocs: {
    description: 'Swagger UI of a service that runs on this machine; guides are in docs/ of the repository',
    url: 'http://localhost:3000/docs/',
  },
  servers: [
    { url: '/', description: 'The server, local or production, that shows this document' },
    {
      url: '{origin}',
      description: 'Another server, local or production: `origin` is its scheme, host and port',
      // Without a description of its own: the parser of orval 7 rejects one.
      variables: { origin: { default: 'http://localhost:3000' } },
    },
  ],
  tags: [
    {
      name: 'auth',
      description:
        'Accounts, sessions, verification of email addresses, forgotten passwords and usernames. Responses are never stored (`Cache-Control: no-store`).',
    },
    { name: 'passkeys', description: 'Login without a password (WebAuthn).' },
    { name: 'second-factor', description: 'Codes of an authenticator app, and recovery codes.' },
    {
      name: 'stores',
      description: 'The store of a user, my-page, and finding other stores. A user has at most one store.',
    },
    {
      name: 'posts',
      description:
        'What kind of partnership a store is looking for. A store publishes posts, all users read them.',
    },
    {
      name: 'saved-searches',
      description: 'Searches for posts whose new matches their users are notified of.',
    },
    { name: 'images', description: 'Images that users upload for their posts.' },
    {
      name: 'partner-requests',
      description:
        'Partnership requests between stores: sent, received, accepted, declined, withdrawn, ended.',
    },
    {
      name: 'notifications',
      description:
        'What happened to partnership requests: as a list, as a count, as a live stream, and which emails are sent.',
    },
    { name: 'push', description: 'The same on devices that are not open (Web Push).' },
    {
      name: 'admin',
      description:
        'For users with the role `admin`; for all others every path is 404 `not_found`. Every use writes an audit entry.',
    },
    { name: 'system', description: 'Health checks for operators and load balancers' },
  ],
  components: {
    securitySchemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'The `access` token of `logIn` or `refreshToken`',
      },
    },
  },
} satisfies FastifyDynamicSwaggerOptions['openapi'];
