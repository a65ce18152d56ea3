import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import type { BenchUser } from './data.ts';
import type { Server } from './environment.ts';

/** What one connection sends; the next request when it has the response to the last one. */
export interface Sender {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  /** What the next request has besides. */
  next?: () => { body?: string | Buffer; path?: string; headers?: Record<string, string> };
  /** Reads the body of each response. */
  onResponse?: (body: string) => void;
}

/**
 * Sends load: one connection for each sender.
 *
 * @param options.rate requests a second in all, in place of as many as get a response
 * @returns times in milliseconds; errors are responses other than 2xx, and those of sockets
 */
export async function sendLoad(url: string, senders: Sender[], options: { seconds: number; rate?: number }) {
  const { seconds, rate } = options;
  const times: number[] = [];
  const remaining = [...senders];
  const started = performance.now();
  const result = await autocannon({
    url,
    connections: senders.length,
    duration: seconds,
    ...(rate === undefined ? {} : { overallRate: rate }),
    // How often autocannon looks whether the time is over, in milliseconds.
    sampleInt: 20,
    setupClient(client) {
      const { next, onResponse, ...request } = remaining.shift() ?? {};
      client.setRequests([
        {
          ...request,
          ...(next ? { setupRequest: (request) => ({ ...request, ...next() }) } : {}),
          ...(onResponse ? { onResponse: (status, body) => void (status < 300 && onResponse(body)) } : {}),
        },
      ]);
      client.on('response', (_status, _bytes, time) => times.push(time));
    },
  });
  const elapsed = (performance.now() - started) / 1000;
  const statuses = Object.entries(result.statusCodeStats ?? {}).filter(([status]) => !/^2/.test(status));
  return {
    requests: times.length,
    perSecond: times.length / elapsed,
    p50: median(times),
    p99: percentile(times, 0.99),
    errors: [
      ...statuses.map(([status, { count = 0 }]) => `${count} of ${status}`),
      ...(result.errors > 0 ? [`${result.errors} socket errors`] : []),
      ...(times.length === 0 ? ['no response'] : []),
    ],
  };
}

/** The value below which a share of the numbers is. */
export function percentile(numbers: number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (numbers: number[]) => percentile(numbers, 0.5);

/** Times as `p50 / p99`. */
export const describe = (times: number[]) =>
  [0.5, 0.99].map((share) => percentile(times, share).toFixed(0)).join(' / ');

/**
 * Sends `me` of some users in turns, 20 times a second, while work runs, whether the last ones are answered or not.
 *
 * @returns milliseconds of each response from when its request was due, and how many were not 200
 */
export async function besideMe<Result>(
  server: Server,
  users: BenchUser[],
  work: () => Promise<Result>,
): Promise<{ result: Result; times: number[]; rejected: number }> {
  const times: number[] = [];
  let [rejected, isRunning] = [0, true];
  const started = performance.now();
  const send = async (turn: number) => {
    const headers = { authorization: `Bearer ${users[turn % users.length]?.access}` };
    const response = await fetch(`${server.url}/auth/me/`, { headers }).catch(() => undefined);
    await response?.arrayBuffer();
    times.push(performance.now() - started - 50 * turn);
    if (response?.status !== 200) rejected++;
  };
  const sending = (async () => {
    const sent: Promise<void>[] = [];
    for (let turn = 0; isRunning; turn++) {
      sent.push(send(turn));
      await sleep(Math.max(0, 50 * (turn + 1) - (performance.now() - started)));
    }
    await Promise.all(sent);
  })();
  const result = await work().finally(() => (isRunning = false));
  await sending;
  return { result, times, rejected };
}
