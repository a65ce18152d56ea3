import { FastifyOtelInstrumentation } from '@fastify/otel';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { FastifyInstance } from 'fastify';

/**
 * Sends traces of requests to an OpenTelemetry collector. Import it only where an endpoint is configured: the libraries are
 * large. Register it before the routes.
 *
 * @param endpoint base URL of an OTLP/HTTP receiver; traces go to `<endpoint>/v1/traces`
 */
export async function registerTracing(app: FastifyInstance, endpoint: string): Promise<void> {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'dure' }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
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
