import type { ServerResponse } from 'node:http';
import { finished, PassThrough, type Readable } from 'node:stream';

/** In milliseconds. */
export interface EventStreamTimes {
  /** Between two comments that show that the connection is alive. */
  heartbeat: number;
  /** How long a client may read nothing while there is more to send. */
  stall: number;
  /** How long what was sent may take to leave when the stream ends. */
  end: number;
}

interface ServerSentEvent {
  event: string;
  data: object;
  /** Where the client resumes after it has seen the event. */
  id?: number;
  /** Milliseconds after which a client that lost its connection shall come back. */
  retry?: number;
}

export type EventStream = ReturnType<typeof openEventStream>;

/**
 * An answer that goes on: server-sent events, as the HTML standard defines them in section 9.2. It goes through Fastify as any
 * other stream, so that hooks and headers are those of other answers. `@fastify/sse` is of no use here: it writes
 * heartbeats to clients that do not read, waits for such clients without an end, and answers 406 outside the envelope.
 */
export function openEventStream(response: ServerResponse, times: EventStreamTimes) {
  const body = new PassThrough();
  const readable: Readable = body;
  const heartbeat = setInterval(() => write(': heartbeat\n\n'), times.heartbeat).unref();
  const closed = new Promise<void>((resolve) => {
    finished(response, () => {
      clearInterval(heartbeat);
      body.destroy();
      resolve();
    });
  });

  function write(text: string): void {
    if (body.writable && !body.writableNeedDrain) body.write(text);
  }

  return {
    body: readable,
    /** Resolves when the connection is gone. */
    closed,
    isOpen: () => body.writable,
    send(event: ServerSentEvent): void {
      if (body.writable) body.write(format(event));
    },
    /** Resolves when the client has read enough to be sent more. One that does not read is cut off. */
    async drained(): Promise<void> {
      if (!body.writable || !body.writableNeedDrain) return;
      const stalled = setTimeout(() => response.destroy(), times.stall);
      await Promise.race([new Promise((resolve) => body.once('drain', resolve)), closed]);
      clearTimeout(stalled);
    },
    /** Ends the answer once what was sent has left, or without that when it takes too long. */
    end(): void {
      body.end();
      const overdue = setTimeout(() => response.destroy(), times.end);
      void closed.then(() => clearTimeout(overdue));
    },
  };
}

/** Data is JSON, which has no line feeds. */
function format({ event, data, id, retry }: ServerSentEvent): string {
  return [
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    `event: ${event}`,
    `data: ${JSON.stringify(data)}`,
    '\n',
  ].join('\n');
}
