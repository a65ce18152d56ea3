import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Metrics } from '../../metrics/metrics.ts';
import type { SecurityEvent } from '../request-context.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a security event. */
    countSecurityEvent(event: SecurityEvent): void;
  }
}

/** Others are one label, because Node's parser knows dozens. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A counter that alerts compare over time has its series from the start. */
const countedFromStart: SecurityEvent[] = [
  'login',
  'login_failed',
  'login_delayed',
  'login_suspended',
  'refresh_reused',
];

/** Measures every request. Routes are labelled by their pattern, so that ids add no series; unknown paths are one. */
export const metricsPlugin = fastifyPlugin(
  async (app: FastifyInstance, { metrics }: { metrics: Metrics }) => {
    const duration = metrics.addHistogram(
      'http_request_duration_seconds',
      'Time from the request to the end of its answer',
      {
        labelNames: ['method', 'route', 'status'],
        buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      },
    );
    app.addHook('onResponse', (request, reply, done) => {
      const method = methods.has(request.method) ? request.method : 'other';
      const route = request.routeOptions.url ?? 'unknown';
      duration.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
      done();
    });

    const events = metrics.addCounter(
      'security_events_total',
      'Security events, logins by outcome among them',
      ['event'],
    );
    for (const event of countedFromStart) events.inc({ event }, 0);
    app.decorate('countSecurityEvent', (event: SecurityEvent) => events.inc({ event }));
  },
);

/** `GET /metrics`, Prometheus text. */
export async function metricsRoutes(app: FastifyInstance, { metrics }: { metrics: Metrics }): Promise<void> {
  const { registry } = metrics;
  app.get('/metrics', { config: { limit: 'none' }, schema: { hide: true } }, async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
