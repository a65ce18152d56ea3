import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { NamedObject, Ref, StringEnum } from '../schemas.ts';

const Health = NamedObject('Health', 'All is well', {
  status: StringEnum(['ok'], { description: 'Always `ok`' }),
});
const HealthProblem = NamedObject('HealthProblem', 'The service cannot answer requests', {
  status: StringEnum(['unavailable'], { description: 'Always `unavailable`' }),
});
const config = { access: 'anyone', probe: true } as const;

/**
 * `live`: the process answers. `ready`: it can do its work, so a load balancer may send requests.
 *
 * @param options `checkReady` throws the reason, for the log, when the service cannot answer requests
 */
export async function healthRoutes(app: FastifyInstance, options: { checkReady(): Promise<void> }) {
  app.get(
    '/health/live',
    {
      config,
      schema: {
        operationId: 'getLiveness',
        summary: 'Whether the process is up',
        description: 'Answers as long as the process runs, whatever is broken behind it.',
        tags: ['system'],
        response: { 200: Ref(Health, { description: 'The process is up' }) },
      },
    },
    async () => ({ status: 'ok' }),
  );

  app.get(
    '/health/ready',
    {
      config,
      schema: {
        operationId: 'getReadiness',
        summary: 'Whether the service can answer requests',
        description:
          'The database answers and takes writes, all migrations are applied, and the process is not shutting down. The response comes within 2 seconds.',
        tags: ['system'],
        response: {
          200: Ref(Health, { description: 'Ready' }),
          503: Ref(HealthProblem, { description: 'Not ready; send requests elsewhere' }),
        },
      },
    },
    async (request, reply) => {
      try {
        if (app.shutdown.announced) throw new Error('shutting down');
        await options.checkReady();
        return { status: 'ok' };
      } catch (error) {
        request.log.warn({ err: error }, 'not ready');
        return reply.code(503).header('retry-after', '5').send({ status: 'unavailable' });
      }
    },
  );
}

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
 * Closes connections while the application closes. From the announcement on each response closes its connection, so that a proxy does
 * not send its next request over one that closes at the same moment. Those whose long response began before are swept up.
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
