import { spawn } from 'node:child_process';
import { type Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import autocannon from 'autocannon';

/*
 * Load from a number of connections, each of which sends its next request when it has the response to the last one.
 */

/** What one connection sends. */
export interface Sender {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  /** What the next request has besides. */
  next?: () => { body: string; headers?: Record<string, string> };
  /** Reads the body of each response. */
  onResponse?: (body: string) => void;
}

/** What a run measured. */
export interface LoadResult {
  /** Answered requests. */
  requests: number;
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Responses other than 2xx, and errors of sockets. */
  errors: string[];
}

/** A request in the form of autocannon. */
function toRequest({ method, path, headers, next, onResponse }: Sender): autocannon.Request {
  return {
    method,
    path,
    headers,
    ...(next ? { setupRequest: (request) => ({ ...request, ...next() }) } : {}),
    ...(onResponse ? { onResponse: (status, body) => void (status < 300 && onResponse(body)) } : {}),
  };
}

/** Sends load with autocannon: one connection for each sender. */
export async function sendLoad(url: string, senders: Sender[], seconds: number): Promise<LoadResult> {
  const times: number[] = [];
  const remaining = [...senders];
  const started = performance.now();
  const result = await autocannon({
    url,
    connections: senders.length,
    duration: seconds,
    // How often autocannon looks whether the time is over, in milliseconds.
    sampleInt: 20,
    setupClient(client) {
      const sender = remaining.shift();
      if (sender) client.setRequests([toRequest(sender)]);
      client.on('response', (_status, _bytes, time) => times.push(time));
    },
  });
  const elapsed = (performance.now() - started) / 1000;
  const statuses = Object.entries(result.statusCodeStats ?? {}).filter(([status]) => !/^2/.test(status));
  return {
    ...summarize(times, elapsed),
    errors: [
      ...statuses.map(([status, { count = 0 }]) => `${count} of ${status}`),
      ...(result.errors > 0 ? [`${result.errors} socket errors`] : []),
    ],
  };
}

/** @param times of the responses, in milliseconds */
export function summarize(times: number[], seconds: number) {
  const sorted = Float64Array.from(times).sort();
  const percentile = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    requests: times.length,
    perSecond: times.length / seconds,
    p50: percentile(0.5),
    p90: percentile(0.9),
    p99: percentile(0.99),
  };
}

/** Reads a path, and forgets the body. @returns the status; 0 for a connection that broke */
export function getStatus(url: string, access: string, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    get(url, { agent, headers: { authorization: `Bearer ${access}` } }, (response) => {
      response.resume().on('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
    }).on('error', () => resolve(0));
  });
}

/** Sends load with wrk, whose connections all send the request of the first sender. */
export async function sendWrkLoad(url: string, senders: Sender[], seconds: number): Promise<LoadResult> {
  const [{ path, headers }] = senders as [Sender];
  const child = spawn(
    'wrk',
    [
      ...['--latency', '-t1', `-c${senders.length}`, `-d${seconds}s`],
      ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      url + path,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const output = await text(child.stdout);
  const read = (pattern: RegExp) => pattern.exec(output)?.[1];
  const unit: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };
  const percentile = (share: string) => {
    const [, value, name = ''] = new RegExp(`${share}%\\s+([\\d.]+)(us|ms|s)`).exec(output) ?? [];
    return Number(value) * (unit[name] ?? 0);
  };
  const errors = [/(Non-2xx .*)/, /(Socket errors: .*)/].flatMap((pattern) => read(pattern) ?? []);
  return {
    requests: Number(read(/(\d+) requests in/)),
    perSecond: Number(read(/Requests\/sec:\s+([\d.]+)/)),
    p50: percentile('50'),
    p99: percentile('99'),
    errors,
  };
}
