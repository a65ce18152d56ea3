import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

/**
 * Removes type and length of a 304, which has no content (RFC 9110, section 15.4.5). Fastify serialises the empty payload to
 * `null` and would describe that text.
 */
export const notModifiedPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('onSend', (_request, reply, payload: unknown, done) => {
    if (reply.statusCode !== 304) return done(null, payload);
    reply.removeHeader('content-type');
    done(null, typeof payload === 'string' ? null : payload);
  });
});
