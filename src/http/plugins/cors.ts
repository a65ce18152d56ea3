import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../config/config.ts';
import { corsHeaders } from '../cors.ts';

/**
 * Lets the configured origins read every answer. Preflights are answered by `routing.ts`, because they count for the limits and
 * only paths that exist have them; `@fastify/cors` answers them for any path, before every other plugin.
 */
export const corsPlugin = fastifyPlugin(async (app: FastifyInstance, { config }: { config: Config }) => {
  const origins = new Map(config.corsOrigins.map((origin) => [origin, corsHeaders(origin)]));
  if (origins.size === 0) return;
  app.addHook('onRequest', async ({ headers }, reply) => {
    // A cache must not give the answer for one origin to another one.
    reply.header('vary', `${reply.getHeader('vary')}, Origin`);
    const allowed = headers.origin === undefined ? undefined : origins.get(headers.origin);
    if (allowed) reply.headers(allowed);
  });
});
