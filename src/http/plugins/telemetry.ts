import { type FastifyInstance, fastify, LogController } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { Histogram } from 'prom-client';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import type { Tracing } from '../../infrastructure/telemetry/tracing.ts';

/** Others are one label, because Node's parser knows dozens. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

interface MetricsOptions {
  metrics: Metrics;
  /** Security events whose series exist from the start, because alerts compare them over time. */
  preregistered: readonly string[];
}

/** Measures every request. Routes are labelled by their pattern, so that ids add no series; unknown paths are one. */
export const metricsPlugin = fastifyPlugin(
  async (app: FastifyInstance, { metrics, preregistered }: MetricsOptions) => {
    const duration = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the request to the end of its response',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [metrics.registry],
    });
    app.addHook('onResponse', (request, reply, done) => {
      const method = methods.has(request.method) ? request.method : 'other';
      const route = request.routeOptions.url ?? 'unknown';
      duration.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
      done();
    });

    const events = metrics.addCounter(
      'security_events_total',
      'Security events, logins by outcome among them',
      { event: preregistered },
    );
    app.decorate('countSecurityEvent', (event: string) => events.inc({ event }));
  },
);

/** `GET /metrics`, Prometheus text. It has no limit, so scrapes at once share one result. */
export async function metricsRoutes(app: FastifyInstance, { metrics }: { metrics: Metrics }): Promise<void> {
  const { registry } = metrics;
  let running: Promise<string> | undefined;
  const scrape = () =>
    (running ??= registry.metrics().finally(() => {
      running = undefined;
    }));
  app.get('/metrics', { config: { probe: true }, schema: { hide: true } }, async (_request, reply) => {
    return reply.type(registry.contentType).send(await scrape());
  });
}

/** Serves `/metrics`, and nothing else, on a port of its own, so that the port of the API can be public. */
export function serveMetrics(
  app: FastifyInstance,
  { metrics, host, port }: { metrics: Metrics; host: string; port: number },
): void {
  const server = fastify({
    loggerInstance: app.log,
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: 10_000,
    forceCloseConnections: true,
  });
  server.register(metricsRoutes, { metrics });
  app.addHook('onReady', async () => void (await server.listen({ host, port })));
  app.addHook('onClose', () => server.close());
}

/** Makes a span of each request, but for health checks and metrics. Register it first, so that all hooks run in the span. */
export const tracingPlugin = fastifyPlugin(
  async (app: FastifyInstance, { tracing }: { tracing: Tracing }) => {
    app.addHook('onRequest', (request, reply, done) => {
      const { method, headers, routeOptions } = request;
      if (routeOptions.config?.probe) return done();
      const span = tracing.startRequest(method, routeOptions.url, headers);
      // Also of a client that disconnects before it gets a response, for which `onResponse` does not run.
      reply.raw.once('close', () => span.end(reply.raw.headersSent ? reply.statusCode : undefined));
      span.run(done);
    });
  },
);
