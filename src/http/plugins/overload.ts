import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { ApiError, httpErrors } from '../errors.ts';

/** Milliseconds that the event loop may be late on average before requests are turned away. */
const defaultMaxDelay = 1_000;

/** Milliseconds over which the delay is averaged. */
const sampleInterval = 1_000;

/** Turns requests away while the process cannot keep up; health and metrics always answer. */
export const overloadPlugin = fastifyPlugin(
  async (app: FastifyInstance, options: { maxEventLoopDelay?: number | undefined }) => {
    const { maxEventLoopDelay = defaultMaxDelay } = options;
    // Starting blocks the event loop, too. What was measured then says nothing of the requests that come after it.
    let measured = false;
    app.addHook('onReady', async () => {
      setTimeout(() => {
        measured = true;
      }, 2 * sampleInterval).unref();
    });
    await app.register(underPressure, {
      maxEventLoopDelay,
      sampleInterval,
      pressureHandler: (request, _reply, type, value) => {
        if (!measured || request.routeOptions.config?.limit === 'none') return;
        const cause = new Error(`the process cannot keep up: ${type} is ${value}`);
        throw new ApiError(httpErrors.serviceUnavailable, { cause, headers: { 'retry-after': '5' } });
      },
    });
  },
);
