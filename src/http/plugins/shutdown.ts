import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

/** Milliseconds between two sweeps for connections that have become idle. */
const sweepInterval = 500;

declare module 'fastify' {
  interface FastifyInstance {
    shutdown: {
      /** Whether load balancers should send requests elsewhere. */
      announced: boolean;
    };
  }
}

/**
 * Announces a shutdown, and closes connections while the application closes. From the announcement on each answer closes its
 * connection, so that a proxy does not send its next request over one that closes at the same moment. Fastify and Node close
 * connections that are idle when the listener closes; one whose request is answered later would stay open for the client's next
 * request and delay the end of the process.
 */
export const shutdownPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  let sweep: NodeJS.Timeout | undefined;
  const shutdown = { announced: false };
  app.decorate('shutdown', shutdown);
  app.addHook('preClose', async () => {
    shutdown.announced = true;
    sweep = setInterval(() => app.server.closeIdleConnections(), sweepInterval);
  });
  app.addHook('onSend', (_request, reply, payload: unknown, done) => {
    if (shutdown.announced) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('onClose', async () => clearInterval(sweep));
});
