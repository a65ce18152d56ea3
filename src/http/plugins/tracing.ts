import type { FastifyInstance } from 'fastify';

/**
 * Sends traces of requests to an OpenTelemetry collector. The libraries are loaded only where an endpoint is
 * configured. Register it before the routes.
 *
 * @param endpoint base URL of an OTLP/HTTP receiver; traces go to `<endpoint>/v1/traces`
 */
export async function registerTracing(app: FastifyInstance, endpoint: string): Promise<void> {
  const [{ FastifyOtelInstrumentation }, { OTLPTraceExporter }, { resourceFromAttributes }, trace] =
    await Promise.all([
      import('@fastify/otel'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace-node'),
    ]);
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new trace.NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'dure' }),
    spanProcessors: [new trace.BatchSpanProcessor(exporter)],
  });
  const instrumentation = new FastifyOtelInstrumentation({
    instrumentHooks: false,
    // The query of a reset link contains its token.
    requestHook: (span, request) => void span.setAttribute('url.path', request.url.split('?')[0] ?? ''),
  });
  instrumentation.setTracerProvider(provider);
  await app.register(instrumentation.plugin());
  app.addHook('onClose', () => provider.shutdown());
}
