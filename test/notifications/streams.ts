import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { createTestApp, type TestApp } from '../support/app.ts';
import type { Json } from '../support/json.ts';
import { sendRequest, transition } from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';
import { until } from '../support/until.ts';

export const streamPath = '/api/v1/notifications/stream/';

/** One event of a stream, with its data parsed. */
interface StreamEvent {
  event: string | undefined;
  id: string | undefined;
  data: Json;
}

/** Opens a stream over a real socket, until the test ends. The app must listen. */
export async function openStream(
  t: Test,
  { app }: Pick<TestApp, 'app'>,
  token: string,
  headers: Record<string, string> = {},
) {
  const dropping = new AbortController();
  t.teardown(() => dropping.abort());
  const response = await fetch(`${app.listeningOrigin}${streamPath}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: dropping.signal,
  });
  const events: StreamEvent[] = [];
  const comments: string[] = [];
  let hasEnded = false;
  void read(response, events, comments).finally(() => {
    hasEnded = true;
  });
  return {
    status: response.status,
    headers: response.headers,
    /** Every event up to now. */
    events,
    comments,
    /** Ids of the notifications up to now. */
    ids: () => events.flatMap(({ event, data }): number[] => (event === 'notification' ? [data.id] : [])),
    /** Waits for events. @throws when they do not come in time, or the stream ends */
    async until(came: () => boolean) {
      const hasCome = () => {
        if (hasEnded && !came()) throw new Error(`the stream ended: ${JSON.stringify(events)}`);
        return came();
      };
      await until('an event', hasCome);
    },
    /** Waits until the server ends the stream. */
    toEnd: () => until('the end of the stream', () => hasEnded),
    hasEnded: () => hasEnded,
    /** Drops the connection. */
    drop: () => dropping.abort(),
  };
}

/** Requests a stream over a connection of its own and reads no response. */
export function requestStream({ app }: Pick<TestApp, 'app'>, token: string): Socket {
  const connection = connect({ port: Number(new URL(app.listeningOrigin).port), host: '127.0.0.1' });
  connection.on('error', () => undefined);
  connection.write(`GET ${streamPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return connection;
}

/** Reads blocks as section 9.2.6 of the HTML standard says. */
async function read({ body }: Response, events: StreamEvent[], comments: string[]): Promise<void> {
  let text = '';
  try {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) readBlock(block, events, comments);
    }
  } catch {
    // The connection was dropped, by either side.
  }
}

function readBlock(block: string, events: StreamEvent[], comments: string[]): void {
  const lines = block.split('\n').map((line) => line.split(/: ?(.*)/s));
  const fields = new Map(lines.map(([name, value = '']) => [name, value]));
  const comment = fields.get('');
  if (comment !== undefined) comments.push(comment);
  const data = fields.get('data');
  if (data === undefined) return;
  events.push({ event: fields.get('event'), id: fields.get('id'), data: JSON.parse(data) });
}

/** A user with a post, and a function that notifies them. */
export async function createPair(app: TestApp) {
  const receiver = await openShop(app, '햇살카페');
  const { id: postId } = await createPost(app, receiver.token, { title: '주말 공동 할인' });
  return { receiver, postId, notify: await createNotifier(app, postId) };
}

/**
 * Signs up another user, who sends requests to a post and withdraws them.
 *
 * @returns notifies the owner of the post so many times
 */
export async function createNotifier(app: TestApp, postId: number) {
  const sender = await openShop(app, '두레 베이커리');
  let pending: number | undefined;
  return async (times = 1, through: TestApp = app): Promise<void> => {
    for (let sent = 0; sent < times; sent++) {
      if (pending === undefined) pending = await sendRequest(through, sender, { id: postId });
      else {
        const { status, text } = await transition(through, sender, pending, 'withdraw');
        if (status !== 200) throw new Error(text);
        pending = undefined;
      }
    }
  };
}

/** Ids of a user's notifications, oldest first. */
export async function storedIds({ pool }: Pick<TestApp, 'pool'>, userId: number): Promise<number[]> {
  const ofUser = 'SELECT id::int FROM notifications WHERE user_id = $1 ORDER BY id';
  const { rows } = await pool.query(ofUser, [userId]);
  return rows.map(({ id }) => id);
}

/** An app that listens, without the quota that {@link createNotifier} exceeds. */
export async function createListeningApp(
  overrides: Parameters<typeof createTestApp>[0],
  options: Parameters<typeof createTestApp>[1] = {},
): Promise<TestApp> {
  const app = await createTestApp({ QUOTA_REQUESTS_PER_DAY: '0', ...overrides }, options);
  await app.app.listen({ host: '127.0.0.1', port: 0 });
  // Streams read again when LISTEN starts, which may be after the first stream is open.
  await until('LISTEN', () => app.logs.some((line) => line.includes('listening to the database')));
  return app;
}
