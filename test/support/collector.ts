import { json } from 'node:stream/consumers';
import type { Test } from 'tap';
import type { Json } from './json.ts';
import { serve } from './serve.ts';

/** A span as OTLP/HTTP sends it in JSON. */
interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** 2: server, 3: client, 5: consumer. */
  kind: number;
  status: { code?: number };
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
}

/** Starts a receiver of OTLP/HTTP that keeps what it gets, and stops with the test. */
export async function createCollector(t: Test) {
  const received: unknown[] = [];
  const spans: ReceivedSpan[] = [];
  /** Attributes of the processes that sent spans. */
  const resources: Record<string, unknown>[] = [];
  const url = await serve(t, async (request, response) => {
    const body: Json = await json(request);
    received.push(request.url, body);
    for (const { resource, scopeSpans } of body.resourceSpans) {
      resources.push(toObject(resource.attributes));
      for (const span of scopeSpans.flatMap((scope: Json) => scope.spans))
        spans.push({ ...span, attributes: toObject(span.attributes), links: span.links ?? [] });
    }
    response.setHeader('content-type', 'application/json').end('{}');
  });
  /** Everything as it came. */
  const text = () => JSON.stringify(received);
  return { url, spans, resources, text };
}

function toObject(attributes: Json[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
