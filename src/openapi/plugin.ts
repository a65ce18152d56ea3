import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { Document, isScalar, visit } from 'yaml';
import { serveFixed } from '../http/pages.ts';
import { clientLimit, userLimit } from '../http/plugins/rate-limits.ts';
import { referencedSchemas } from '../http/schemas.ts';
import type { Config } from '../infrastructure/config/config.ts';
import { version } from '../infrastructure/config/readers.ts';
import { completeDocument } from './document.ts';
import { type DocumentedRoute, isDocumented } from './errors.ts';
import { swaggerUiRoutes } from './swagger-ui.ts';

const tags = {
  auth: 'Accounts, sessions, verification of email addresses, forgotten passwords and usernames. `logIn` gives an access token (15 minutes) and a refresh token (14 days, replaced by each `refreshToken`). `reason` in the data of a 401 says what to do.',
  passkeys: 'Login without a password (WebAuthn).',
  'second-factor': 'Codes of an authenticator app, and recovery codes.',
  stores: 'The store of a user, my-page, and finding other stores. A user has at most one store.',
  posts: 'What kind of partnership a store is looking for. A store publishes posts, all users read them.',
  'saved-searches': 'Searches for posts whose new matches their users are notified of.',
  images: 'Images that users upload for their posts.',
  'partner-requests':
    'Partnership requests between stores: sent, received, accepted, declined, withdrawn, ended.',
  notifications:
    'What happened to partnership requests: as a list, as a count, as a live stream, and which emails are sent.',
  push: 'The same on devices that are not open (Web Push).',
  admin:
    'For users with the role `admin`; for all others every path is 404 `not_found`. Every use writes an audit entry.',
  system: 'Health checks for operators and load balancers',
};

/** What the document says about the service as a whole. */
const information = {
  openapi: '3.1.0',
  info: {
    title: 'Dure',
    version,
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
  tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
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

/** Makes the document, which is that of `app.swagger()`. Register it before the routes. */
export const openApiPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  const routes = new Map<string, DocumentedRoute>();
  await app.register(swagger, {
    openapi: information,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json['$id'] ?? `schema-${index}`),
    },
    transform: ({ schema, url, route }) => {
      if (isDocumented(route)) routes.set(route.schema.operationId, route);
      const tags = [tagOf(url)];
      // Without a scope that requires a user, an operation is for everyone.
      return { schema: { security: [], tags, ...schema }, url };
    },
    transformObject: (generated) =>
      'openapiObject' in generated ? completeDocument(generated.openapiObject, routes) : {},
  });
});

/** As `stores` of `/api/v1/stores/`, unless the schema has another tag. */
function tagOf(url: string): string {
  const part = /^\/auth\/(passkeys|second-factor)\/|\/notifications\/(partner-request|push)\//.exec(url);
  const [, ofAuth, ofNotifications] = part ?? /^\/(?:api\/v1\/)?([\w-]+)/.exec(url) ?? [];
  const tag = ofAuth ?? ofNotifications ?? '';
  return tag === 'partner-request' ? 'partner-requests' : tag;
}

/** Serves the document as YAML and JSON and, where enabled, Swagger UI. Register it after the routes. */
export async function openApiRoutes(
  app: FastifyInstance,
  { docsEnabled, production }: Pick<Config, 'docsEnabled' | 'production'>,
): Promise<void> {
  // @fastify/swagger names the schemas of the app in this order.
  for (const $id of Object.keys(referencedSchemas).sort()) app.addSchema(referencedSchemas[$id]);
  serveFixed(app, '/openapi.yaml', { type: 'application/yaml', read: () => toYaml(app.swagger()) });
  serveFixed(app, '/openapi.json', { type: 'application/json', read: () => JSON.stringify(app.swagger()) });
  if (docsEnabled) await app.register(swaggerUiRoutes, { canLogIn: !production });
}

/** The document as it is committed: short lists of values on one line, and strings quoted that readers of YAML 1.1 take for another type. */
export function toYaml(document: object): string {
  const yaml = new Document(document, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(yaml, {
    Seq: (_key, list) => {
      list.flow = list.items.every(isScalar) && list.items.join(', ').length < 80;
    },
  });
  return yaml.toString({ lineWidth: 110, flowCollectionPadding: false });
}
