import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

/** Milliseconds between two looks for connections that have become idle. */
const sweepInterval = 500;

/**
 * Ends connections while the application closes. Fastify and Node end those that are idle at that moment; one whose request is
 * answered later would be kept for the client's next request, and hold up the end of the process.
 */
export const shutdownPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  let sweep: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    sweep = setInterval(() => app.server.closeIdleConnections(), sweepInterval);
  });
  app.addHook('onSend', async (_request, reply) => {
    if (sweep) reply.header('connection', 'close');
  });
  app.addHook('onClose', async () => clearInterval(sweep));
});
