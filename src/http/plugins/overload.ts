import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { serviceUnavailable } from '../errors.ts';

/** Average delay of the event loop, in milliseconds, above which requests are refused. */
const defaultMaxDelay = 1_000;

/** Milliseconds over which the delay is averaged. */
const sampleInterval = 1_000;

/** Refuses requests while the process is overloaded; health and metrics always answer. */
export const overloadPlugin = fastifyPlugin(
  async (app: FastifyInstance, options: { maxEventLoopDelay?: number | undefined }) => {
    const { maxEventLoopDelay = defaultMaxDelay } = options;
    // The start itself blocks the event loop, so the first samples say nothing about load.
    let isMeasuring = false;
    app.addHook('onReady', async () => {
      setTimeout(() => {
        isMeasuring = true;
      }, 2 * sampleInterval).unref();
    });
    await app.register(underPressure, {
      maxEventLoopDelay,
      sampleInterval,
      pressureHandler: (request, _reply, type, value) => {
        if (!isMeasuring || request.routeOptions.config?.limit === 'none') return;
        throw serviceUnavailable(new Error(`the process is overloaded: ${type} is ${value}`));
      },
    });
  },
);
