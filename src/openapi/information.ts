import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { clientLimit, userLimit } from '../http/plugins/rate-limits.ts';

/** What the document says about the service as a whole. */
export const information = {
  openapi: '3.1.0',
  info: {
    title: 'Dure',
    version: '0.1.0',
    summary: 'Neighbourhood shops find partners and answer each other',
    // The first screen of a phone has room for ten lines and "Authorize" below them.
    description: `Shops register their store, publish what partnership they look for, and send each other partnership requests.

To try it: \`signUp\`, \`logIn\`, then "Authorize" with the access token. Guides for clients: \`docs/client/README.md\` of the repository.

Responses are \`{ success, message, data }\`: \`message\` is for people, \`data.code\` of an error for programs. Accept unknown fields, values of enums and codes.

\`Accept-Language\` chooses Korean, the default, or English. Responses have \`X-Request-Id\`, \`Content-Language\`, \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`: ${userLimit.max} requests a minute of a user, ${clientLimit.max} of an address without one.`,
    contact: { name: 'The maintainers of Dure' },
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [
    { url: '/', description: 'This server, local or production' },
    {
      url: '{baseUrl}',
      description: 'Any server, local or production',
      variables: { baseUrl: { default: 'http://localhost:3000', description: 'Its scheme, host and port' } },
    },
  ],
  tags: [
    {
      name: 'auth',
      description:
        'Accounts, sessions, verification of email addresses, forgotten passwords and usernames. `logIn` gives an access token (15 minutes) and a refresh token (14 days, replaced by each `refreshToken`). `reason` in the data of a 401 says what to do.',
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
