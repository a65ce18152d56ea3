import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../config/config.ts';

/**
 * The security headers of every answer, also of refusals that are written to the socket without Fastify; that is why it is one
 * list and not a plugin. Pages of their own replace the policy.
 */
export function securityHeaders({
  production,
  corsOrigins,
}: Pick<Config, 'production' | 'corsOrigins'>): Record<string, string> {
  const transport = { 'strict-transport-security': 'max-age=31536000; includeSubDomains' };
  return {
    'content-security-policy': "default-src 'none';frame-ancestors 'none';base-uri 'none';form-action 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': corsOrigins.length > 0 ? 'cross-origin' : 'same-origin',
    'origin-agent-cluster': '?1',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    // For browsers that do not know the policy above; `0` turns off a filter that caused leaks.
    'x-download-options': 'noopen',
    'x-frame-options': 'DENY',
    'x-permitted-cross-domain-policies': 'none',
    'x-xss-protection': '0',
    ...(production ? transport : {}),
  };
}

/** Headers for browsers: framing, MIME sniffing, transport and caching. */
export const securityHeadersPlugin = fastifyPlugin(
  async (app: FastifyInstance, { config }: { config: Config }) => {
    const headers = securityHeaders(config);
    app.addHook('onRequest', async (request, reply) => {
      reply.headers(headers);
      // The path of the route where there is one, because a URL can be encoded in other ways, as `/%61uth/me/`.
      const path = request.routeOptions.url ?? request.url;
      if (path.startsWith('/auth/')) reply.header('cache-control', 'no-store');
      else if (path.startsWith('/api/')) reply.header('cache-control', 'private, no-cache');
    });
  },
);
