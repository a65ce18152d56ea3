import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { version } from '../config/readers.ts';

/** Milliseconds for sending what is left at the end: a collector that is down must not delay the shutdown. */
const closeLimit = 3_000;

/** Traces of requests, statements and emails. No span has values, texts of errors, or paths of requests. */
export type Tracing = ReturnType<typeof openTracing>;

interface SpanOptions {
  name: string;
  kind: 'CONSUMER' | 'CLIENT';
  attributes?: Record<string, string | number>;
  /** The `traceparent` of what caused the work. */
  cause?: string | undefined;
}

/**
 * Sends traces to an OTLP/HTTP receiver. The SDK reads the standard variables, such as `OTEL_SERVICE_NAME`. Spans are made here and
 * not by `@fastify/otel`, which puts paths and texts of errors into them.
 */
export function openTracing(endpoint: string) {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const own = resourceFromAttributes({
    'service.name': 'dure',
    'service.version': version,
    'service.instance.id': randomUUID(),
  });
  const provider = new NodeTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  // Of several apps in a process, as in tests, the first sets what finds the active span, for all of them.
  provider.register();
  const tracer = provider.getTracer('dure');

  /** Runs work in a span. */
  function inSpan<Result>(
    { name, kind, attributes = {}, cause }: SpanOptions,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const link = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent: cause }));
    const links = link ? [{ context: link }] : [];
    return tracer.startActiveSpan(name, { kind: SpanKind[kind], attributes, links }, async (span) => {
      try {
        return await work();
      } catch (error) {
        failSpan(span, error);
        throw error;
      } finally {
        span.end();
      }
    });
  }

  return {
    /** `trace_id` and `span_id` of the active span, for each line of the log. */
    logFields(): Record<string, string> {
      const span = trace.getActiveSpan()?.spanContext();
      return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
    },

    /** The active span in the form of W3C Trace Context; undefined without one, and when it is not sampled. */
    traceparent(): string | undefined {
      const span = trace.getActiveSpan();
      if (!span?.isRecording()) return undefined;
      const { traceId, spanId } = span.spanContext();
      return `00-${traceId}-${spanId}-01`;
    },

    /** Starts the span of a request under the one that its `traceparent` names. @param route its pattern; undefined for an unknown path */
    startRequest(method: string, route: string | undefined, headers: IncomingHttpHeaders) {
      const parent = propagation.extract(ROOT_CONTEXT, { traceparent: headers['traceparent'] });
      const name = route === undefined ? method : `${method} ${route}`;
      const attributes = { 'http.request.method': method, ...(route && { 'http.route': route }) };
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
      const active = trace.setSpan(ROOT_CONTEXT, span);
      return {
        /** Runs work in the span. */
        run: (work: () => void): void => context.with(active, work),
        /** @param status undefined when the client disconnected before the response */
        end(status: number | undefined): void {
          if (status === undefined) failSpan(span, new Error('the client disconnected'));
          else span.setAttribute('http.response.status_code', status);
          if (status !== undefined && status >= 500) failSpan(span, { code: String(status) });
          span.end();
        },
      };
    },

    /** Runs a statement in a span below the active one, if any. Outside a transaction that includes the wait for a connection. */
    traceStatement<Result>(text: string, run: () => Promise<Result>): Promise<Result> {
      if (!trace.getActiveSpan()?.isRecording()) return run();
      const name = statementSummary(text);
      const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name };
      return inSpan({ name, kind: 'CLIENT', attributes }, run);
    },

    inSpan,

    /** Sends what is left, within a few seconds. */
    async close() {
      const closed = provider.shutdown().catch(() => undefined);
      await Promise.race([closed, sleep(closeLimit, undefined, { ref: false })]);
    },
  };
}

/** Marks a span as failed by the code or the class of an error. Its text may quote values. */
function failSpan(span: Span, error: unknown): void {
  const code = String(Object(error).code ?? '');
  const name = error instanceof Error ? error.name : 'unknown';
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', /^\w{1,40}$/.test(code) ? code : name);
}

/**
 * A readable name of a statement: that of its comment, such as `posts.change`; of one of Prisma's client its verb and its table, such
 * as `SELECT users`; of others the first word.
 */
function statementSummary(text: string): string {
  const [, name] = /^\s*\/\* ([\w.-]+) \*\//.exec(text) ?? [];
  if (name) return name;
  const [, verb = 'statement', table = ''] = /^\s*(\w+)(?:.*?"public"\."(\w+)")?/s.exec(text) ?? [];
  return `${verb.toUpperCase()} ${table}`.trim();
}
