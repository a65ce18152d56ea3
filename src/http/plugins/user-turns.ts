import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../config/config.ts';

/** Requests of one user that are worked on at once, of the ten for which there are database connections. */
const maxAtOnce = 4;

declare module 'fastify' {
  interface FastifyRequest {
    endTurn: (() => void) | undefined;
  }
}

/**
 * Works on a few requests of a user at once; more of them wait for each other, at most until their deadline. Otherwise one user
 * could fill the event loop and the database connections, within the limit of requests per minute.
 */
export const userTurnsPlugin = fastifyPlugin(async (app: FastifyInstance, { config }: { config: Config }) => {
  if (!config.rateLimitEnabled) return;
  const users = new Map<number, { running: number; waiting: (() => void)[] }>();

  app.decorateRequest('endTurn', undefined);
  app.addHook('preHandler', async (request, reply) => {
    // Not the user of a token whose session has ended, which would take turns of its owner.
    const userId = request.currentUser?.id;
    // Uploads have limits of their own.
    if (userId === undefined || request.routeOptions.config.readsBody) return;
    const user = users.get(userId) ?? { running: 0, waiting: [] };
    users.set(userId, user);
    if (user.running < maxAtOnce) user.running++;
    else await new Promise<void>((resolve) => user.waiting.push(resolve));
    const end = () => {
      request.endTurn = undefined;
      const next = user.waiting.shift();
      if (next) next();
      else if (--user.running === 0) users.delete(userId);
    };
    if (reply.sent) end();
    else request.endTurn = end;
  });
  app.addHook('onSend', (request, _reply, _payload, done) => {
    request.endTurn?.();
    done();
  });
});
