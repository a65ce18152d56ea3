import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';

/** In milliseconds. */
const defaultTimes = {
  /** Between two comments that keep the connection alive. */
  heartbeat: 25_000,
  /** How long sending the rest may take when the stream ends. */
  end: 1_000,
};
export type EventStreamTimes = typeof defaultTimes;

export type EventStream = ReturnType<typeof openEventStream>;
/**
 * Server-sent events (HTML standard, section 9.2) as a stream that Fastify sends like any other, with its hooks and headers.
 * `@fastify/sse` does not fit: it ignores back-pressure in its heartbeat, waits for stalled clients without a limit, and responds
 * 406 outside the envelope.
 */
export function openEventStream(response: ServerResponse, options: Partial<EventStreamTimes> = {}) {
  const times = { ...defaultTimes, ...options };
  const body = new PassThrough();
  const heartbeat = setInterval(() => {
    if (body.writable && !body.writableNeedDrain) body.write(': heartbeat\n\n');
  }, times.heartbeat).unref();
  const closed = finished(response)
    .catch(() => undefined)
    .finally(() => {
      clearInterval(heartbeat);
      body.destroy();
    });

  return {
    body,
    closed,
    isOpen: () => body.writable,
    /** Sends an event. `id` is what the client sends as `Last-Event-ID` after it, `retry` the milliseconds until it reconnects. */
    send(fields: { retry?: number; id?: number; event: string; data: object }): void {
      if (!body.writable) return;
      // JSON has no line feeds, so data is one line.
      const lines = Object.entries({ ...fields, data: JSON.stringify(fields.data) });
      body.write(`${lines.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n`);
    },
    /** Resolves when the client has read enough, or is gone: `connectionTimeout` of the server ends one that does not read. */
    async drained(): Promise<void> {
      if (body.writable && body.writableNeedDrain)
        await Promise.race([new Promise((resolve) => body.once('drain', resolve)), closed]);
    },
    /** Ends the response after sending the rest, or without it when that takes too long. */
    end(): void {
      body.end();
      const overdue = setTimeout(() => response.destroy(), times.end);
      void closed.then(() => clearTimeout(overdue));
    },
  };
}
