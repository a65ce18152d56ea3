import { setTimeout as sleep } from 'node:timers/promises';
import { wakeUpChannel } from '../../src/infrastructure/jobs/outbox.ts';
import { databaseUrl, execute } from '../../test/support/database.ts';
import type { BenchUser } from '../data.ts';
import type { MeasuredServer } from '../servers.ts';
import { type StreamClient, untilAll } from './clients.ts';

const api = '/api/v1/notifications';

async function post(
  url: string,
  { access }: BenchUser,
  body: object,
): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/**
 * Creates requests at an even pace, each to the owner of another post.
 *
 * @returns milliseconds from each response to the event on the receiver's stream
 */
export async function sendRequests(
  { url }: MeasuredServer,
  senders: BenchUser[],
  receivers: BenchUser[],
  arrivals: Map<number, number[]>,
  { count, perSecond }: { count: number; perSecond: number },
): Promise<number[]> {
  const sent = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      await sleep((index * 1000) / perSecond);
      const sender = senders[index % senders.length];
      const receiver = receivers[index % receivers.length];
      if (!sender || !receiver) throw new Error('there is no sender or receiver');
      const body = { post_id: receiver.postId, message: '함께 해요!' };
      const { status, text } = await post(`${url}${api}/partner-request/`, sender, body);
      if (status !== 201) throw new Error(`a request was answered with ${status}: ${text}`);
      return { id: Number(JSON.parse(text).data.id), at: performance.now() };
    }),
  );
  for (const end = performance.now() + 30_000; sent.some(({ id }) => !arrivals.has(id)); await sleep(50)) {
    if (performance.now() > end) throw new Error('an event did not arrive');
  }
  return sent.flatMap(({ id, at }) => (arrivals.get(id) ?? []).map((time) => time - at));
}

/** Notifies all users in one transaction. @returns milliseconds from its commit to the event on each stream */
export async function notifyAll(url: string, clients: StreamClient[]): Promise<number[]> {
  const ids = [...new Set(clients.map(({ user }) => user.id))].join();
  // Not of the senders of requests, who have no stream.
  await execute(
    url,
    `WITH counted AS (
       INSERT INTO notification_counts AS c (user_id, unread) SELECT id, 1 FROM unnest('{${ids}}'::int[]) id
       ON CONFLICT (user_id) DO UPDATE SET unread = c.unread + 1 RETURNING user_id
     ), added AS (
       INSERT INTO unread_notifications (user_id, kind, partner_request_id)
       SELECT user_id, 'partner_request_received', (SELECT min(id) FROM partner_requests) FROM counted)
     SELECT pg_notify('${wakeUpChannel}', json_agg(user_id)::text) FROM counted GROUP BY user_id / 500`,
  );
  const at = performance.now();
  // The count follows the notification; the next measurement begins when nothing waits any more.
  const missing = await untilAll(
    clients,
    ({ notifiedAt, countedAt }) => notifiedAt > at - 1_000 && countedAt >= notifiedAt,
  );
  if (missing > 0) throw new Error(`${missing} streams got no event`);
  return clients.map(({ notifiedAt }) => Math.max(0, notifiedAt - at));
}

/** Marks the notifications of some users as read, 20 users a second. @returns milliseconds from the response to the new count */
export async function markRead({ url }: MeasuredServer, clients: StreamClient[]): Promise<number[]> {
  return Promise.all(
    clients.map(async (client, index) => {
      await sleep(index * 50);
      const before = client.countedAt;
      const { status, text } = await post(`${url}${api}/mark-read/`, client.user, { up_to_id: 2 ** 31 - 1 });
      if (status !== 200) throw new Error(`mark-read was answered with ${status}: ${text}`);
      const at = performance.now();
      if ((await untilAll([client], ({ countedAt }) => countedAt > before)) > 0)
        throw new Error('no count came');
      return Math.max(0, client.countedAt - at);
    }),
  );
}

/** Ends the connection on which the instance listens, so that all its streams look for what they missed. */
export async function interruptListener(url: string): Promise<void> {
  await execute(
    databaseUrl(url, 'postgres'),
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dure-listener'",
  );
}
