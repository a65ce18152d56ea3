import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { context, propagation, ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { readVersion } from '../config/version.ts';
import { failSpan, tracePool } from './traced-pool.ts';
import type { RequestSpan, Tracing } from './tracing.ts';

/** Milliseconds for sending what is left at the end: a collector that is down must not delay the shutdown. */
const closeLimit = 3_000;

const kinds = { consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT };

/**
 * Sends traces to an OpenTelemetry collector. The SDK reads the standard variables: `OTEL_SERVICE_NAME`,
 * `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER` and others. Spans are made here and not by `@fastify/otel`, which puts paths
 * and texts of errors into them.
 *
 * @param endpoint base URL of an OTLP/HTTP receiver; traces go to `<endpoint>/v1/traces`
 */
export function connectCollector(endpoint: string): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const own = resourceFromAttributes({
    'service.name': 'dure',
    'service.version': readVersion(),
    'service.instance.id': randomUUID(),
  });
  const provider = new NodeTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  // Of several apps in a process, as in tests, the first sets what finds the active span, for all of them.
  provider.register();
  const tracer = provider.getTracer('dure');

  return {
    logFields() {
      const span = trace.getActiveSpan()?.spanContext();
      return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
    },

    traceparent() {
      const span = trace.getActiveSpan();
      return span?.isRecording() ? toTraceparent(span) : undefined;
    },

    startRequest({ method, route, headers }) {
      const parent = propagation.extract(ROOT_CONTEXT, { traceparent: headers['traceparent'] });
      const span = tracer.startSpan(
        route === undefined ? method : `${method} ${route}`,
        {
          kind: SpanKind.SERVER,
          attributes: {
            'http.request.method': method,
            ...(route === undefined ? {} : { 'http.route': route }),
          },
        },
        parent,
      );
      return toRequestSpan(span);
    },

    tracePool: (pool) => tracePool(pool, tracer),

    inSpan(name, { kind, attributes = {}, cause }, work) {
      const link = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent: cause }));
      const links = link ? [{ context: link }] : [];
      return tracer.startActiveSpan(name, { kind: kinds[kind], attributes, links }, async (span) => {
        try {
          return await work();
        } catch (error) {
          failSpan(span, error);
          throw error;
        } finally {
          span.end();
        }
      });
    },

    async close() {
      const closed = provider.shutdown().catch(() => undefined);
      await Promise.race([closed, sleep(closeLimit, undefined, { ref: false })]);
    },
  };
}

function toRequestSpan(span: Span): RequestSpan {
  const active = trace.setSpan(ROOT_CONTEXT, span);
  return {
    run: (work) => context.with(active, work),
    end(status) {
      if (!span.isRecording()) return;
      if (status === undefined) failSpan(span, new Error('the client disconnected'));
      else span.setAttribute('http.response.status_code', status);
      if (status !== undefined && status >= 500) failSpan(span, { code: String(status) });
      span.end();
    },
  };
}

function toTraceparent(span: Span): string {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}
