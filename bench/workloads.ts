import { randomUUID } from 'node:crypto';
import { type BenchUser, beginSessions, busyUsers, password } from './data.ts';
import type { Sender } from './load.ts';
import type { MeasuredServer } from './servers.ts';

/** Something that clients do, on both servers. */
export interface Workload {
  name: string;
  /** The share of the limit's requests per second that the service is to reach. */
  goal: number;
  /** Whether the hand-written baseline does it with an email job, too. */
  hasMailJob?: boolean;
  /** Requests that are sent to each server first; as many as 20 seconds allow. */
  warmUp: number;
  /** What each connection of a run sends. */
  createSenders(run: WorkloadRun): Promise<Sender[]>;
}

/** Where and by whom requests are sent. */
interface WorkloadRun {
  server: MeasuredServer;
  users: BenchUser[];
  connections: number;
}

const authorization = ({ access }: BenchUser) => ({ authorization: `Bearer ${access}` });
const json = { 'content-type': 'application/json' };

/** Calls a function for some of the users, as often as needed to have a sender for each connection. */
function forEachConnection(
  users: BenchUser[],
  connections: number,
  create: (user: BenchUser, index: number) => Sender,
): Sender[] {
  return Array.from({ length: connections }, (_, index) => users[index % users.length]).flatMap(
    (user, index) => (user === undefined ? [] : create(user, index)),
  );
}

/** Reads a path with the sessions of the users who have much. */
function read(name: string, goal: number, path: string): Workload {
  return {
    name,
    goal,
    warmUp: 3_000,
    createSenders: async ({ users, connections }) =>
      forEachConnection(users.slice(0, busyUsers), connections, (user) => ({
        method: 'GET',
        path,
        headers: authorization(user),
      })),
  };
}

/** Takes users one after the other, so that no two connections meet at the rows of one. */
function takeTurns(users: BenchUser[]): () => BenchUser {
  let turn = 0;
  return () => {
    const user = users[turn++ % users.length];
    if (user === undefined) throw new Error('there are no users');
    return user;
  };
}

/** Each request is of another user. */
export const login: Workload = {
  name: 'login',
  goal: 0.9,
  warmUp: 100,
  createSenders: async ({ users, connections }) => {
    const next = takeTurns(users);
    return forEachConnection(users, connections, () => ({
      method: 'POST',
      path: '/auth/login/',
      headers: json,
      next: () => ({ body: JSON.stringify({ username: next().username, password }) }),
    }));
  },
};

/** Each connection rotates a session of its own, which is new in each run, as the last response of a run is not read. */
const refresh: Workload = {
  name: 'refresh',
  goal: 0.6,
  warmUp: 2_000,
  createSenders: async ({ server, users, connections }) => {
    const tokens = await beginSessions(server.databaseUrl, users.slice(0, connections));
    return forEachConnection(users, connections, (_user, index) => ({
      method: 'POST',
      path: '/auth/token/refresh/',
      headers: json,
      next: () => ({ body: `{"refresh":"${tokens[index]}"}` }),
      onResponse(body) {
        tokens[index] = /"refresh":"([^"]+)"/.exec(body)?.[1] ?? '';
      },
    }));
  },
};

/** How many requests were sent to each database. */
const sentRequests = new Map<string, number>();

/** Each request is of another store. @param isOneReceiver whether many are for the post of one store, else each for another post */
const createRequests = (name: string, isOneReceiver: boolean): Workload => ({
  name,
  goal: 0.4,
  hasMailJob: true,
  warmUp: 1_000,
  createSenders: async ({ server: { databaseUrl }, users: all, connections }) => {
    // Without those who have sent and received requests.
    const users = all.slice(100, -100);
    const count = users.length;
    const nextPair = () => {
      const turn = sentRequests.get(databaseUrl) ?? 0;
      sentRequests.set(databaseUrl, turn + 1);
      const round = Math.floor(turn / count);
      // A receiver gets at most 60 emails in an hour.
      if (round >= 59) throw new Error('there are no more pairs of stores: use fewer rounds or seconds');
      const sender = users[turn % count];
      const receiver = isOneReceiver ? all[busyUsers + round] : users[(turn + 1 + round) % count];
      if (!sender || !receiver) throw new Error('there are no users');
      const body = `{"post_id":${receiver.postId},"message":"함께 해요!"}`;
      // A key for each request, as the SDK sends.
      return { body, headers: { ...json, ...authorization(sender), 'idempotency-key': randomUUID() } };
    };
    return forEachConnection(users, connections, () => ({
      method: 'POST',
      path: '/api/v1/notifications/partner-request/',
      headers: json,
      next: nextPair,
    }));
  },
});

export const workloads: Workload[] = [
  read('me', 0.85, '/auth/me/'),
  login,
  refresh,
  read('my-page', 0.6, '/api/v1/stores/mypage/'),
  read('notifications', 0.6, '/api/v1/notifications/mypage/'),
  read('unread-count', 0.6, '/api/v1/notifications/unread-count/'),
  createRequests('create-request', false),
  createRequests('one-receiver', true),
];
