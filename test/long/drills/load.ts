import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { password } from '../../support/app.ts';
import type { Json } from '../../support/json.ts';
import { requestsPath } from '../../support/partner-requests.ts';
import { atMost } from '../../support/time.ts';
import { repeatAll } from '../upgrade/load.ts';

/** One response, or 0 where a connection broke. */
export interface Answer {
  at: number;
  /** Milliseconds. */
  took: number;
  status: number;
  isWrite: boolean;
}

interface Call {
  token?: string | undefined;
  body?: object;
  /** A status that means that an earlier attempt, whose response was lost, has succeeded. */
  done?: number;
}

/** Milliseconds before a client tries again, and between two of its writes. */
const pause = { retry: 200, next: 300 };

/** Clients of the instances, which send everything again with the same key until it succeeds. */
export function createClients(urls: string[]) {
  const answers: Answer[] = [];
  const errors: string[] = [];
  let turn = 0;

  /** @throws when the response is neither a success nor one that asks to try again, or is no success in time */
  async function insist(method: string, path: string, { token, body, done }: Call): Promise<Json> {
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    for (const end = AbortSignal.timeout(atMost(60_000)); ; ) {
      const url = `${urls[turn++ % urls.length]}${path}`;
      const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const start = Date.now();
      const { status, text } = await fetch(url, request).then(
        async (response) => ({ status: response.status, text: await response.text() }),
        (error: Error) => ({ status: 0, text: `${error.message} ${error.cause}` }),
      );
      const at = Date.now();
      answers.push({ at, took: at - start, status, isWrite: method !== 'GET' });
      if (status === 200 || status === 201) return JSON.parse(text).data;
      if (status === done) return undefined;
      if (status !== 503) errors.push(`${method} ${path}: ${status} ${text}`);
      if (status !== 503 && status !== 500 && status !== 0) throw new Error(errors.at(-1));
      if (end.aborted) throw new Error(`${method} ${path}: ${status} again and again`);
      await sleep(pause.retry);
    }
  }

  /** Signs up, and opens a store. @returns the token */
  async function openStore(username: string): Promise<string> {
    const account = { username, password, name: '김두레', email: `${username}@example.com` };
    await insist('POST', '/auth/signup/', { body: account });
    const { access } = await insist('POST', '/auth/login/', { body: { username, password } });
    const store = { name: username, category_ids: [1] };
    await insist('POST', '/api/v1/stores/', { token: access, body: store });
    return access;
  }

  return { answers, errors, insist, openStore };
}

type Clients = ReturnType<typeof createClients>;

/** What was acknowledged, by table: each value belongs to one row. */
export type Acknowledged = Record<'users' | 'posts' | 'partner_requests', string[]>;

/** People who write and read until they are stopped. */
export async function startLoad({ insist, openStore }: Clients, receivers: string[]) {
  const acknowledged: Acknowledged = { users: [], posts: [], partner_requests: [] };

  const signsUp = (person: number) => async (round: number) => {
    const username = `new_${person}_${round}`;
    const account = { username, password, name: '이두레', email: `${username}@example.com` };
    await insist('POST', '/auth/signup/', { body: account });
    acknowledged.users.push(username);
  };

  const writes = (person: number, token: string) => async (round: number) => {
    const title = `글 ${person}-${round}`;
    await insist('POST', '/api/v1/posts/', { token, body: { title, content: '함께해요.', images: [] } });
    acknowledged.posts.push(title);
  };

  const asks = (person: number, token: string, post_id: number) => async (round: number) => {
    const message = `요청 ${person}-${round}`;
    const { id } = await insist('POST', requestsPath, { token, body: { post_id, message } });
    acknowledged.partner_requests.push(message);
    await insist('POST', `${requestsPath}${id}/withdraw/`, { token, done: 409 });
  };

  const reads = (token: string) => async () => {
    for (const path of ['/api/v1/stores/mypage/', '/api/v1/posts/', '/api/v1/notifications/unread-count/'])
      await insist('GET', path, { token });
  };

  const people = [signsUp(1), signsUp(2)];
  for (const [index, token] of receivers.entries()) {
    const body = { title: '함께할 가게', content: '주말에 같이 해요.', images: [] };
    const { id } = await insist('POST', '/api/v1/posts/', { token, body });
    const sender = await openStore(`sender_${index}`);
    people.push(asks(index, sender, id), writes(index, sender), reads(token));
  }
  const { stop } = repeatAll(Object.fromEntries(people.entries()), pause.next);
  return { acknowledged, stop };
}
