import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { RequestSpan, Tracing } from '../../infrastructure/telemetry/tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request, where it is traced. */
    span: RequestSpan | undefined;
  }
}

/** Makes a span of each request, but for health checks and metrics. Register it first, so that all hooks run in the span. */
export const tracingPlugin = fastifyPlugin(
  async (app: FastifyInstance, { tracing }: { tracing: Tracing }) => {
    app.decorateRequest('span', undefined);

    app.addHook('onRequest', (request, reply, done) => {
      const { method, headers, routeOptions } = request;
      if (routeOptions.config?.probe) return done();
      const span = tracing.startRequest(method, routeOptions.url, headers);
      request.span = span;
      // A client that disconnects gets no response, so `onResponse` does not run.
      reply.raw.once('close', () => span.end(reply.raw.headersSent ? reply.statusCode : undefined));
      span.run(done);
    });
    app.addHook('onResponse', (request, reply, done) => {
      done();
      request.span?.end(reply.statusCode);
    });
  },
);
