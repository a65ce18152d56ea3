import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

/** Milliseconds between two sweeps for connections that have become idle. */
const sweepInterval = 500;

/**
 * Closes connections while the application closes. Fastify and Node close those that are idle at that moment; one whose
 * request is answered later would stay open for the client's next request and delay the end of the process.
 */
export const shutdownPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  let sweep: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    sweep = setInterval(() => app.server.closeIdleConnections(), sweepInterval);
  });
  app.addHook('onSend', (_request, reply, payload: unknown, done) => {
    if (sweep) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('onClose', async () => clearInterval(sweep));
});
