import type { BenchUser } from './data.ts';
import { busyUsers } from './data.ts';
import type { Sender } from './load.ts';
import type { MeasuredServer } from './servers.ts';

/** Something that clients do, on both servers. */
export interface Workload {
  name: string;
  /** The share of the limit's requests per second that the service is to reach. */
  target: number;
  /** What each connection of a run sends. */
  createSenders(server: MeasuredServer, users: BenchUser[], connections: number): Promise<Sender[]>;
}

const authorization = ({ access }: BenchUser) => ({ authorization: `Bearer ${access}` });

/** Some of the users, as often as needed to have so many. */
function repeat(users: BenchUser[], count: number): BenchUser[] {
  return Array.from({ length: count }, (_, index) => users[index % users.length]).filter((user) => !!user);
}

/** Reads a path with the sessions of different users. */
function read(name: string, target: number, path: string): Workload {
  return {
    name,
    target,
    createSenders: async (_server, users, connections) =>
      repeat(users.slice(0, busyUsers), connections).map((user) => ({
        method: 'GET',
        path,
        headers: authorization(user),
      })),
  };
}

export const workloads: Workload[] = [
  read('me', 0.85, '/auth/me/'),
  read('unread-count', 0.8, '/api/v1/notifications/unread-count/'),
];
