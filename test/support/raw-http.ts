import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { TestResponse } from './app.ts';
import { atMost } from './time.ts';

/** Makes an app listen on a free port. @returns the port */
export async function listen(app: FastifyInstance): Promise<number> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

interface RawResponse extends TestResponse {
  /** Whether the server closed the connection. */
  closed: boolean;
}

export type RawConnection = Awaited<ReturnType<typeof rawConnection>>;

/** Opens a TCP connection to a listening app, on which a test sends bytes that no HTTP client library would send. */
export async function rawConnection(port: number) {
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
    send: (data: string | Buffer) => void socket.write(data),
    /** Reads the next response. @throws when none arrives in time */
    async response(): Promise<RawResponse> {
      // Longer than the service takes for any request.
      const deadline = AbortSignal.timeout(atMost(10_000));
      for (;;) {
        const complete = readResponse(received);
        // The close follows the last response, so wait for it.
        if (complete && (closed || complete.response.headers.connection !== 'close')) {
          received = received.subarray(complete.length);
          return { ...complete.response, closed };
        }
        if (closed || deadline.aborted) throw new Error(`no response, but: ${received.toString('latin1')}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          deadline.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    },
  };
}

/** The bytes of a request, whose body is JSON unless a header says otherwise. */
export function rawRequest(method: string, target: string, headers: Record<string, string>, body = '') {
  const size = String(Buffer.byteLength(body));
  const ofBody = body === '' ? {} : { 'content-type': 'application/json', 'content-length': size };
  const fields = Object.entries({ host: 'x', ...ofBody, ...headers });
  const head = [`${method} ${target} HTTP/1.1`, ...fields.map((field) => field.join(': '))];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Sends bytes on a new connection and returns the response. */
export async function rawCall(port: number, data: string | Buffer): Promise<RawResponse> {
  const connection = await rawConnection(port);
  connection.send(data);
  const response = await connection.response();
  connection.socket.destroy();
  return response;
}

function readResponse(received: Buffer): { response: TestResponse; length: number } | undefined {
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
  return { response: { status: Number(statusLine.split(' ')[1]), headers, body, text }, length };
}
