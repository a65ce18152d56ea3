import { sum } from '../processes.ts';
import type { Measured } from './measure.ts';

/*
 * What a number of users needs, from what an operation and a row cost. All that is assumed and not measured is in this first part.
 */

/** Of all users, the share that uses the service on a day. */
const activeShare = 0.2;

/** Operations of an active user on a day. An answer is an accepted, declined, withdrawn or ended request. */
const operationsPerDay = {
  me: 6,
  'unread-count': 15,
  'my-page': 3,
  notifications: 3,
  feed: 10,
  search: 3,
  refresh: 4,
  login: 0.15,
  'mark-read': 1,
  'create-post': 0.05,
  'create-request': 0.15,
  answer: 0.1,
};
type Operation = keyof typeof operationsPerDay;

/** Operations that are not measured cost as much as another one. */
const standIns: Partial<Record<Operation, string>> = { 'mark-read': 'refresh', answer: 'create-request' };

/** Reads that a replica takes over. */
const onReplica: Operation[] = ['feed', 'search'];
const writes: Operation[] = ['refresh', 'login', 'mark-read', 'create-post', 'create-request', 'answer'];

/** The busiest minutes of a day, as a multiple of its mean. */
const peak = 4;
/** Of the active users, the share with an open stream at the peak. */
const streaming = 0.05;
/** The share of a core that is used at the peak, so that one failure and a slow hour fit. */
const utilisation = 0.5;

/** Rows of each user that do not grow with time. Sessions and addresses are those that have not expired. */
const rowsPerUser = { users: 1, stores: 0.4, store_category_links: 0.8, sessions: 0.8, known_addresses: 1.2 };
/** Days for which the rows of an operation are kept, for ever without one: `NOTIFICATION_TTL`, and 24 hours. */
const keptDays: Record<string, number> = { notifications: 365, idempotency_keys: 1 };
/** Tables and indexes in use, as a multiple of newly written ones. */
const bloat = 1.3;

/** What a large server has as the primary. Memory is for what is read often; WAL is what a standby replays, in one process. */
const primary = { cores: 64, memory: 512e9, storage: 16e12, walPerSecond: 100e6, backends: 500 };
/** Days whose posts, requests and notifications are read often, beside all rows of users. */
const hotDays = 90;
/** Streams of an instance, and its connections past a pooler; connections of PgBouncer to PostgreSQL per core of PostgreSQL. */
const instance = { streams: 10_000, directConnections: 4 };
const pooledPerCore = 4;

const secondsPerDay = 86_400;

/** What a number of users needs, by name, and the share of a primary that it uses. */
export function sizeOf(users: number, { operations, rows, memory }: Measured) {
  const active = users * activeShare;
  const perDay = (operation: Operation) => active * operationsPerDay[operation];
  const names = Object.keys(operationsPerDay) as Operation[];
  const costOf = (operation: Operation) => {
    const cost = operations[standIns[operation] ?? operation];
    if (cost === undefined) throw new Error(`${operation} was not measured`);
    return cost;
  };
  const atPeak = (of: Operation[]) => (sum(of.map(perDay)) / secondsPerDay) * peak;
  const perDayOf = (of: Operation[], part: 'service' | 'postgres' | 'wal') =>
    sum(of.map((operation) => perDay(operation) * costOf(operation)[part]));
  const cores = (of: Operation[], part: 'service' | 'postgres') =>
    ((perDayOf(of, part) / 1e6 / secondsPerDay) * peak) / utilisation;

  const others = names.filter((name) => name !== 'login');
  const streams = active * streaming;
  const instances = Math.max(2, Math.ceil(cores(others, 'service')), Math.ceil(streams / instance.streams));
  const postgresCores = cores(names, 'postgres');
  const replicaCores = cores(onReplica, 'postgres');
  const wal = perDayOf(names, 'wal');
  const connections = instances * instance.directConnections + Math.ceil(postgresCores * pooledPerCore);

  const newRows = {
    posts: perDay('create-post'),
    partner_requests: perDay('create-request'),
    notifications: perDay('create-request') + perDay('answer'),
    idempotency_keys: perDay('create-post') + perDay('create-request'),
  };
  const bytes = (table: string, count: number) => count * (rows[table] ?? Number.NaN) * bloat;
  const ofUsers = Object.entries(rowsPerUser).map(([table, each]) => bytes(table, users * each));
  const ofDays = (days: number) =>
    Object.entries(newRows).map(([table, each]) =>
      bytes(table, each * Math.min(days, keptDays[table] ?? days)),
    );
  const notifications = newRows.notifications * 365;
  const storage = (years: number) => sum(ofUsers) + sum(ofDays(365 * years));
  const readOften = sum(ofUsers) + sum(ofDays(hotDays));

  const cells: Record<string, string> = {
    'requests/s at the peak': short(atPeak(names)),
    'of these, writes; logins': `${short(atPeak(writes))}; ${short(atPeak(['login']))}`,
    'open streams': short(streams),
    instances: instances.toLocaleString('en-US'),
    'their cores: requests + hashing': `${short(cores(others, 'service'))} + ${short(cores(['login'], 'service'))}`,
    'their memory': `${short((instances * memory * 1024 * 1024) / 1e9)} GB`,
    'cores of PostgreSQL': short(postgresCores),
    // Replicas as soon as one primary would be used to one half.
    'of these, lists and searches; replicas for them': `${short(replicaCores)}; ${
      postgresCores > primary.cores / 2 ? Math.ceil(replicaCores / primary.cores) : 0
    }`,
    'connections to PostgreSQL, with PgBouncer': short(connections),
    'memory for what is read often': formatBytes(readOften),
    'storage after the first year': formatBytes(storage(1)),
    'growth in each further year': formatBytes(storage(2) - storage(1)),
    'notifications; in each of 16 partitions': `${short(notifications)}; ${short(notifications / 16)}`,
    'idempotency keys of a day': short(newRows.idempotency_keys),
    'WAL a day': formatBytes(wal),
    'rows a second that expire': short((perDay('login') + newRows.notifications) / secondsPerDay),
  };
  const shares = {
    'cores of PostgreSQL': postgresCores / primary.cores,
    'the same without what a replica takes': (postgresCores - replicaCores) / primary.cores,
    'memory for what is read often': readOften / primary.memory,
    'WAL at the peak': ((wal / secondsPerDay) * peak) / primary.walPerSecond,
    'storage after three years': storage(3) / primary.storage,
    connections: connections / primary.backends,
  };
  return { cells, shares };
}

/** A number with two digits that count, so that it does not look more exact than it is. */
export function short(value: number): string {
  if (value === 0) return '0';
  const digits = 10 ** (Math.floor(Math.log10(value)) - 1);
  const rounded = Math.round(value / digits) * digits;
  return rounded >= 10
    ? rounded.toLocaleString('en-US', { maximumFractionDigits: 0 })
    : String(Number(rounded.toPrecision(2)));
}

function formatBytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return `${short(value / 1000 ** unit)} ${units[unit]}`;
}
