import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { postText, searchWords } from '../scripts/seed/texts.ts';
import { multipart, multipartType } from '../test/support/images.ts';
import {
  addPendingRequests,
  type BenchUser,
  beginSessions,
  busyUsers,
  deleteJobs,
  type PendingRequest,
  password,
} from './data.ts';
import type { Server } from './environment.ts';
import { type Sender, sendLoad } from './load.ts';
import { costOf, sum } from './processes.ts';

/** Where and by whom requests are sent. */
interface Run {
  server: Server;
  users: BenchUser[];
  connections: number;
}

/** Something that clients do. */
export interface Workload {
  name: string;
  /** The share of the hand-written server's requests a second that the service is to reach. */
  goal?: number | undefined;
  /** What each connection of a run sends. */
  createSenders(run: Run): Sender[] | Promise<Sender[]>;
}

const json = { 'content-type': 'application/json' };
export const authorization = (user?: BenchUser) => ({ authorization: `Bearer ${user?.access}` });
/** Of a request with a key, as the SDK sends. */
const keyed = (user: BenchUser) => ({ ...json, ...authorization(user), 'idempotency-key': randomUUID() });

interface RunOptions extends Omit<Run, 'server'> {
  /** Each gets the same load at the same time. */
  servers: Server[];
  postmaster: number;
  seconds: number;
  /** What else is read before and after, such as the position of the WAL. */
  counter?: () => Promise<number>;
}

/** What a workload costs and gets. The times are those of the slowest server; CPU is microseconds for a request. */
export type Figures = Awaited<ReturnType<typeof runWorkload>>;

/** Sends a workload for some seconds, and leaves no jobs behind. */
export async function runWorkload(workload: Workload, options: RunOptions) {
  const { servers, postmaster, seconds, counter = async () => 0, ...run } = options;
  const senders = new Map<Server, Sender[]>();
  for (const server of servers) senders.set(server, await workload.createSenders({ ...run, server }));
  const before = await counter();
  const { result: loads, ...costs } = await costOf({ servers, postmaster }, () =>
    Promise.all([...senders].map(([{ url }, some]) => sendLoad(url, some, { seconds }))),
  );
  const counted = (await counter()) - before;
  for (const { databaseUrl } of servers) await deleteJobs(databaseUrl);
  const requests = sum(loads.map((load) => load.requests));
  return {
    ...costs,
    counted,
    requests,
    perSecond: loads.map((load) => load.perSecond),
    p50: Math.max(...loads.map(({ p50 }) => p50)),
    p99: Math.max(...loads.map(({ p99 }) => p99)),
    cpu: (costs.instances / requests) * 1e6,
    postgresCpu: (costs.postgres / requests) * 1e6,
    errors: loads.flatMap(({ errors }) => errors),
  };
}

/** Reads a path with the sessions of the users who have much. */
const read = (name: string, path: string, goal?: number): Workload => ({
  name,
  goal,
  createSenders: ({ users, connections }) =>
    Array.from({ length: connections }, (_, index) => {
      const headers = authorization(at(users.slice(0, busyUsers), index));
      return { method: 'GET', path, headers };
    }),
});

/** Posts to a path from each connection. */
const send = (connections: number, path: string, create: (index: number) => Partial<Sender>): Sender[] =>
  Array.from({ length: connections }, (_, index) => ({
    ...{ method: 'POST', path, headers: json, ...create(index) },
  }));

/** An item, the first ones again after the last. */
function at<Item>(items: Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('there are no users');
  return item;
}

/** Each request is of another user, so that no two connections meet at the rows of one. */
export const login: Workload = {
  name: 'login',
  goal: 0.9,
  createSenders({ users, connections }) {
    let turn = 0;
    const next = () => ({ body: JSON.stringify({ username: at(users, turn++).username, password }) });
    return send(connections, '/auth/login/', () => ({ next }));
  },
};

/** Of many sessions: one that is refreshed many times a second keeps the times of all refreshes of the last 10 s. */
const refresh: Workload = {
  name: 'refresh',
  goal: 0.6,
  async createSenders({ server, users, connections }) {
    const tokens = await beginSessions(server.databaseUrl, users);
    return send(connections, '/auth/token/refresh/', (first) => {
      let turn = first;
      return {
        next() {
          turn = (turn + connections) % tokens.length;
          return { body: `{"refresh":"${tokens[turn]}"}` };
        },
        onResponse(body) {
          tokens[turn] = /"refresh":"([^"]+)"/.exec(body)?.[1] ?? '';
        },
      };
    });
  },
};

/** How many requests were sent to each database. */
const sentRequests = new Map<string, number>();

/** Each request is of another store. They are for one store, or for another one each. */
const createRequests = (name: 'create-request' | 'one-receiver'): Workload => ({
  name,
  goal: 0.4,
  createSenders({ server: { databaseUrl }, users: all, connections }) {
    // Without those who have sent and received requests.
    const users = all.slice(100, -100);
    const next = () => {
      const turn = sentRequests.get(databaseUrl) ?? 0;
      sentRequests.set(databaseUrl, turn + 1);
      const round = Math.floor(turn / users.length);
      // A receiver gets at most 60 emails in an hour.
      if (round >= 59) throw new Error('there are no more pairs of stores: use fewer rounds or seconds');
      const isOne = name === 'one-receiver';
      const { postId } = isOne ? at(all, busyUsers + round) : at(users, turn + 1 + round);
      return { body: `{"post_id":${postId},"message":"함께 해요!"}`, headers: keyed(at(users, turn)) };
    };
    return send(connections, '/api/v1/notifications/partner-request/', () => ({ next }));
  },
});

/** The number of the last post. */
let posts = 1_000_000;

const createPost: Workload = {
  name: 'create-post',
  createSenders: ({ users, connections }) =>
    send(connections, '/api/v1/posts/', (index) => ({
      next() {
        const body = JSON.stringify({ ...postText(++posts, posts), images: [] });
        return { body, headers: keyed(at(users, 100 + index)) };
      },
    })),
};

/** Sends something about a pending request each, as its receiver. */
const ofPending = (
  name: string,
  next: (request: PendingRequest) => { path: string; body?: string },
): Workload => ({
  name,
  async createSenders({ server, users, connections }) {
    const byId = new Map(users.map((user) => [user.id, user]));
    const pending = await addPendingRequests(server.databaseUrl);
    return send(connections, '', () => ({
      next() {
        const request = pending.pop();
        if (!request) throw new Error('there are no more requests: use fewer seconds');
        const { path, body } = next(request);
        const headers = authorization(byId.get(request.receiverId));
        return { path, ...(body === undefined ? { headers } : { body, headers: { ...json, ...headers } }) };
      },
    }));
  },
});

/** A photograph of a phone, 12 megapixels: noise that compresses about as a photograph does. */
export function photograph(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  return sharp({ create: { width: 4_000, height: 3_000, channels: 3, background: '#000', noise } })
    .blur(1.2)
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 90 })
    .toBuffer();
}

const uploadImage: Workload = {
  name: 'upload-image',
  async createSenders({ users, connections }) {
    const body = multipart({ name: 'image', content: await photograph(), filename: 'photo.jpg' });
    // As many at a time as are converted.
    return send(Math.min(connections, 2), '/api/v1/images/', (index) => ({
      next: () => ({ body, headers: { ...multipartType, ...authorization(at(users, 200 + index)) } }),
    }));
  },
};

/** What only `sizing` measures. */
export const sizedWorkloads: Workload[] = [
  read('near', '/api/v1/posts/?near=37.5561,126.9023&radius_m=2000'),
  ofPending('mark-read', ({ notificationId }) => ({
    path: '/api/v1/notifications/mark-read/',
    body: `{"ids":[${notificationId}]}`,
  })),
  ofPending('answer', ({ id }) => ({ path: `/api/v1/notifications/partner-request/${id}/accept/` })),
  uploadImage,
];

/** All workloads; those with a goal are compared with the hand-written server. */
export const workloads: Workload[] = [
  read('me', '/auth/me/', 0.85),
  login,
  refresh,
  read('my-page', '/api/v1/stores/mypage/', 0.6),
  read('notifications', '/api/v1/notifications/mypage/', 0.6),
  read('unread-count', '/api/v1/notifications/unread-count/', 0.6),
  createRequests('create-request'),
  createRequests('one-receiver'),
  read('feed', '/api/v1/posts/'),
  read('search', `/api/v1/posts/?q=${encodeURIComponent(searchWords.frequent)}`),
  createPost,
];
