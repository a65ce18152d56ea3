import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchUser } from '../data.ts';
import { hasProc } from '../processes.ts';

/** A client that holds one stream, and what it has received. */
export interface StreamClient {
  user: BenchUser;
  response?: IncomingMessage;
  /** When the last event of a kind arrived, in milliseconds of this process. */
  notifiedAt: number;
  countedAt: number;
  /** Milliseconds after which the service wants it to reconnect, by the stream or by the last rejection. */
  retry: number;
}

/** Milliseconds after which a client whose connection broke tries again, with as much jitter. */
const retryDelay = 1_500;

/** Without keep-alive: each stream has a connection. */
const agent = new Agent({ keepAlive: false });

/** How many files this process may open; the service inherits it. */
export function maxOpenFiles(): number {
  if (!hasProc) return Number.POSITIVE_INFINITY;
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]);
}

/**
 * Opens a stream, repeatedly until it is there.
 *
 * @param arrivals when an event about a request arrived, by the id of the request
 * @returns how often it was rejected or its connection broke
 */
export async function connect(
  url: string,
  client: StreamClient,
  arrivals: Map<number, number[]>,
): Promise<number> {
  for (let rejected = 0; ; rejected++) {
    client.retry = retryDelay * (1 + Math.random());
    if (await open(url, client, arrivals)) return rejected;
    await sleep(client.retry);
  }
}

/** Resolves with the first event, or with false when there is no stream. */
function open(url: string, client: StreamClient, arrivals: Map<number, number[]>): Promise<boolean> {
  const headers = { authorization: `Bearer ${client.user.access}` };
  return new Promise((resolve) => {
    const request = get(`${url}/api/v1/notifications/stream/`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        const seconds = Number(response.headers['retry-after']);
        if (seconds > 0) client.retry = seconds * 1_000;
        resolve(false);
        return;
      }
      client.response = response;
      response.setEncoding('utf8').on('data', (text: string) => {
        const now = performance.now();
        if (text.includes('event: unread_count')) client.countedAt = now;
        client.retry = Number(/^retry: (\d+)$/m.exec(text)?.[1] ?? client.retry);
        for (const [, id] of text.matchAll(/"partner_request":\{"id":(\d+)/g)) {
          client.notifiedAt = now;
          arrivals.set(Number(id), [...(arrivals.get(Number(id)) ?? []), now]);
        }
        resolve(true);
      });
      response.on('error', () => resolve(false)).on('close', () => resolve(false));
    });
    request.on('error', () => resolve(false));
  });
}

/** Waits until a condition holds for all, for a minute at most. @returns how many it did not hold for */
export async function untilAll(
  clients: StreamClient[],
  holds: (client: StreamClient) => boolean,
): Promise<number> {
  const missing = () => clients.filter((client) => !holds(client)).length;
  for (const end = performance.now() + 60_000; missing() > 0 && performance.now() < end; ) await sleep(100);
  return missing();
}
