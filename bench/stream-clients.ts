import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchUser } from './data.ts';

/** A client that holds one stream, and what it has received. Times are milliseconds of this process. */
export interface StreamClient {
  user: BenchUser;
  /** When the last notification and the last count arrived. */
  notifiedAt: number;
  countedAt: number;
  /** Milliseconds after which the service wants it to reconnect, by the stream or by the last rejection. */
  retry: number;
}

/** Without keep-alive: each stream has a connection. */
const agent = new Agent({ keepAlive: false });

/** Opens a stream, repeatedly until it is there. @returns how often it was rejected or its connection broke */
export async function connect(url: string, client: StreamClient): Promise<number> {
  for (let rejected = 0; ; rejected++) {
    // As long, with jitter, after a connection that broke.
    client.retry = 1_500 * (1 + Math.random());
    if (await open(url, client)) return rejected;
    await sleep(client.retry);
  }
}

/** Resolves with the first event, or with false when there is no stream. */
function open(url: string, client: StreamClient): Promise<boolean> {
  const headers = { authorization: `Bearer ${client.user.access}` };
  return new Promise((resolve) => {
    const request = get(`${url}/api/v1/notifications/stream/`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        client.retry = 1_000 * Number(response.headers['retry-after']) || client.retry;
        return resolve(false);
      }
      response.setEncoding('utf8').on('data', (text: string) => {
        if (text.includes('event: unread_count')) client.countedAt = performance.now();
        if (text.includes('"partner_request":{')) client.notifiedAt = performance.now();
        client.retry = Number(/^retry: (\d+)$/m.exec(text)?.[1] ?? client.retry);
        resolve(true);
      });
      response.on('error', () => resolve(false)).on('close', () => resolve(false));
    });
    request.on('error', () => resolve(false));
  });
}

/** Waits until a condition holds for all. @throws when it does not within a minute */
export async function untilAll(
  clients: StreamClient[],
  holds: (client: StreamClient) => boolean,
): Promise<void> {
  for (const end = performance.now() + 60_000; !clients.every(holds); await sleep(50))
    if (performance.now() > end) throw new Error('an event did not arrive');
}
