import { context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { Pool, PoolClient } from 'pg';

/** Makes a span of each statement of a pool, below the active span; without one, as in the clean-up, there is none. */
export function tracePool(pool: Pool, tracer: Tracer): void {
  pool.on('connect', (client) => traceClient(client, tracer));
  const { connect } = pool;
  Object.defineProperty(pool, 'connect', {
    // A request that waits gets its connection in the context of the one that gives it back.
    value: (callback?: Parameters<Pool['connect']>[0]) =>
      Reflect.apply(connect, pool, callback === undefined ? [] : [context.bind(context.active(), callback)]),
  });
}

function traceClient(client: PoolClient, tracer: Tracer): void {
  const { query } = client;
  Object.defineProperty(client, 'query', {
    value(...args: unknown[]) {
      const text = typeof args[0] === 'string' ? args[0] : Object(args[0]).text;
      if (typeof text !== 'string' || !trace.getActiveSpan()?.isRecording())
        return Reflect.apply(query, client, args);
      const summary = statementSummary(text);
      const span = tracer.startSpan(summary, {
        kind: SpanKind.CLIENT,
        attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary },
      });
      const end = (error?: unknown) => {
        if (error) failSpan(span, error);
        span.end();
      };
      const callback = args.at(-1);
      if (typeof callback !== 'function') {
        const result = Reflect.apply(query, client, args);
        result.then(() => end(), end);
        return result;
      }
      const finish = (...outcome: unknown[]) => {
        end(outcome[0]);
        Reflect.apply(callback, undefined, outcome);
      };
      return Reflect.apply(query, client, [...args.slice(0, -1), finish]);
    },
  });
}

/** Marks a span as failed by the code or the class of an error. Its text may quote values. */
export function failSpan(span: Span, error: unknown): void {
  const code = String(Object(error).code ?? '');
  const name = error instanceof Error ? error.name : 'unknown';
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', /^\w{1,40}$/.test(code) ? code : name);
}

/**
 * A readable name of a statement: that of its comment, such as `posts.change`; of one of Prisma's client its verb and its table, such
 * as `SELECT users`; of others the first word.
 */
export function statementSummary(text: string): string {
  const [, name] = /^\s*\/\* ([\w.-]+) \*\//.exec(text) ?? [];
  if (name) return name;
  const [, verb = 'statement', table = ''] = /^\s*(\w+)(?:.*?"public"\."(\w+)")?/s.exec(text) ?? [];
  return `${verb.toUpperCase()} ${table}`.trim();
}
