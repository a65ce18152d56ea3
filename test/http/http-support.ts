import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Test } from 'tap';
import type { Answer } from '../support/app.ts';

/** What no answer may ever show: stacks, SQL, files, the parts that the service is made of. */
const internals =
  /\bat .*:\d+|node_modules|\.ts\b|\.js\b|\/work\/|SELECT |INSERT |UPDATE |relation|column|prisma|postgres|fastify|FST_|ECONN/i;

/**
 * Asserts a refusal: its status and code in the envelope, one text in two places, nothing else in `data` than `extra`, the
 * request id to find it in the log, and nothing of the inside.
 */
export function refused(
  t: Test,
  answer: Answer,
  status: number,
  code: string,
  extra: Record<string, unknown> = {},
): void {
  const about = answer.text.slice(0, 300);
  const detail = answer.body?.message;
  t.equal(answer.status, status, about);
  t.strictSame(answer.body, { success: false, message: detail, data: { detail, code, ...extra } });
  t.match(detail, /\S/);
  t.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  t.match(String(answer.headers['x-request-id']), /^[A-Za-z0-9._-]{1,64}$/);
  t.notMatch(answer.text, internals);
}

/** Asserts a validation error that names exactly these fields, each with at least one text. */
export function invalid(t: Test, answer: Answer, ...fields: string[]): Record<string, string[]> {
  const texts: Record<string, string[]> = answer.body?.data?.fields ?? {};
  refused(t, answer, 400, 'validation_error', { fields: texts });
  t.strictSame(Object.keys(texts).sort(), [...fields].sort(), answer.text.slice(0, 300));
  for (const list of Object.values(texts)) t.ok(list.length > 0 && list.every((text) => /\S/.test(text)));
  return texts;
}

/** Makes an app listen on a port of its own, and returns the port. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

export interface RawAnswer extends Answer {
  /** Whether the server ended the connection. */
  closed: boolean;
}

/** A connection on which a test says what no client library would. */
export interface RawConnection {
  socket: Socket;
  send(data: string | Buffer): void;
  /** The next answer on it. @throws when none comes within 5 seconds */
  answer(): Promise<RawAnswer>;
}

/** Opens a connection to a listening app. */
export async function rawConnection(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  let received = Buffer.alloc(0);
  let closed = false;
  let wake = () => {};
  socket.on('data', (data) => {
    received = Buffer.concat([received, data]);
    wake();
  });
  socket.on('error', () => undefined);
  for (const event of ['end', 'close'] as const) {
    socket.on(event, () => {
      closed = true;
      wake();
    });
  }
  return {
    socket,
    send: (data) => void socket.write(data),
    async answer() {
      const deadline = AbortSignal.timeout(5_000);
      for (;;) {
        const complete = readAnswer(received);
        // A connection is closed right after its last answer.
        if (complete && (closed || complete.answer.headers.connection !== 'close')) {
          received = received.subarray(complete.length);
          return { ...complete.answer, closed };
        }
        if (closed || deadline.aborted) throw new Error(`no answer, but: ${received.toString('latin1')}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          deadline.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    },
  };
}

/** Sends one thing on a connection of its own and returns the answer. */
export async function rawCall(port: number, data: string | Buffer): Promise<RawAnswer> {
  const connection = await rawConnection(port);
  connection.send(data);
  const answer = await connection.answer();
  connection.socket.destroy();
  return answer;
}

function readAnswer(received: Buffer): { answer: Answer; length: number } | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const length = end + 4 + Number(headers['content-length'] ?? 0);
  if (received.length < length) return undefined;
  const text = received.subarray(end + 4, length).toString('utf8');
  const isJson = String(headers['content-type']).includes('json') && text !== '';
  const body = isJson ? JSON.parse(text) : null;
  return { answer: { status: Number(statusLine.split(' ')[1]), headers, body, text }, length };
}
