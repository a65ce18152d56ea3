import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { type OwnWrites, ownWriteTimes } from '../../infrastructure/database/own-writes.ts';
import { claimedUserId } from '../authentication.ts';

const readMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Remembers who writes, for reads from the replica: before the handler, because the process may end, and before the response. */
export const ownWritesPlugin = fastifyPlugin(
  async (app: FastifyInstance, { ownWrites }: { ownWrites: OwnWrites }) => {
    const writerOf = (request: FastifyRequest) =>
      readMethods.has(request.method) ? undefined : claimedUserId(request);
    app.addHook('preHandler', (request, _reply, done) => {
      const userId = writerOf(request);
      // Without waiting: Redis gets it before the one of the response.
      if (userId !== undefined) void ownWrites.remember(userId, ownWriteTimes.pending);
      done();
    });
    app.addHook('onSend', async (request, { statusCode }, payload) => {
      const userId = writerOf(request);
      if (userId === undefined) return payload;
      if (statusCode < 400) await ownWrites.remember(userId, ownWriteTimes.done);
      // A transaction may commit after the response that it took too long.
      if (statusCode >= 500) await ownWrites.remember(userId, ownWriteTimes.pending);
      return payload;
    });
  },
);
