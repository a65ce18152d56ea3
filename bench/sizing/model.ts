import { sum } from '../processes.ts';
import type { Measured } from './measure.ts';

/*
 * What a number of users needs, from what an operation and a row cost. What is assumed of their use is printed with it.
 */

/** Operations of an active user on a day. An answer is an accepted, declined, withdrawn or ended request. */
export const operationsPerDay = {
  me: 6,
  'unread-count': 15,
  'my-page': 3,
  notifications: 3,
  feed: 10,
  search: 3,
  near: 2,
  refresh: 4,
  login: 0.15,
  'mark-read': 1,
  'create-post': 0.05,
  'upload-image': 0.05,
  'create-request': 0.15,
  answer: 0.1,
};
type Requested = keyof typeof operationsPerDay;

/** What is assumed and not measured. */
export const assumed = {
  'of all users, the share that is active on a day': 0.2,
  'matches of saved searches that a user is notified of on a day': 1.5,
  'of these, the share that is read, and so kept for a year': 0.3,
  'push messages for each notification': 0.5,
  'the peak, as a multiple of the mean of a day': 4,
  'hours of a day for which an active user has a stream open': 0.5,
  'the share of a core that is used at the peak, so that one failure and a slow hour fit': 0.5,
  'tables and indexes in use, as a multiple of newly written ones': 1.3,
  'stores of a user': 0.4,
  'bytes of an image with its thumbnail': 400_000,
};

/** What the service does by itself, beside the requests. */
type Operation = Requested | 'match' | 'push' | 'stream-second';

/** Reads that a replica takes over. */
const onReplica: Operation[] = ['feed', 'search', 'near'];
const writes: Requested[] = [
  ...(['refresh', 'login', 'mark-read', 'create-post', 'upload-image', 'create-request', 'answer'] as const),
];

const peak = assumed['the peak, as a multiple of the mean of a day'];
const utilisation =
  assumed['the share of a core that is used at the peak, so that one failure and a slow hour fit'];
const bloat = assumed['tables and indexes in use, as a multiple of newly written ones'];
const stores = assumed['stores of a user'];

/** Rows of each user that do not grow with time. Sessions and addresses are those that have not expired. */
const rowsPerUser = {
  users: 1,
  stores,
  store_category_links: 2 * stores,
  saved_searches: stores,
  sessions: 0.8,
  known_addresses: 1.2,
};

/** Days for which the rows of an operation are kept, for ever without one: `NOTIFICATION_TTL`, and 24 hours. */
const keptDays: Record<string, number> = { notifications: 365, idempotency_keys: 1 };

/** What a large server has as the primary. Memory is for what is read often; WAL is what a standby replays, in one process. */
const primary = { cores: 64, memory: 512e9, storage: 16e12, walPerSecond: 100e6, backends: 500 };
/** Days whose posts, requests and notifications are read often, beside all rows of users. */
const hotDays = 90;
/** Streams of an instance, and its connections past a pooler: six of its worker, and the listener. */
const instance = { streams: 10_000, directConnections: 7 };
/** Connections of PgBouncer to PostgreSQL per core of PostgreSQL. */
const pooledPerCore = 4;

const secondsPerDay = 86_400;

/** What a number of users needs, by name, and the share of a primary that it uses. */
export function sizeOf(users: number, { operations, rows, memory }: Measured) {
  const active = users * assumed['of all users, the share that is active on a day'];
  const requests = Object.keys(operationsPerDay) as Requested[];
  const ofRequests = (of: Requested[]) => sum(of.map((operation) => active * operationsPerDay[operation]));
  const matches = users * assumed['matches of saved searches that a user is notified of on a day'];
  const notices = matches + ofRequests(['create-request', 'answer']);
  const streamHours = assumed['hours of a day for which an active user has a stream open'];
  const perDay: Record<Operation, number> = {
    ...(Object.fromEntries(requests.map((one) => [one, ofRequests([one])])) as Record<Requested, number>),
    match: matches,
    push: notices * assumed['push messages for each notification'],
    'stream-second': active * streamHours * 3_600,
  };
  const names = Object.keys(perDay) as Operation[];
  const costOf = (operation: Operation) => {
    const cost = operations[operation];
    if (cost === undefined) throw new Error(`${operation} was not measured`);
    return cost;
  };
  const atPeak = (of: Requested[]) => (ofRequests(of) / secondsPerDay) * peak;
  const perDayOf = (of: Operation[], part: 'service' | 'postgres' | 'wal') =>
    sum(of.map((operation) => perDay[operation] * costOf(operation)[part]));
  const cores = (of: Operation[], part: 'service' | 'postgres') =>
    ((perDayOf(of, part) / 1e6 / secondsPerDay) * peak) / utilisation;

  const others = names.filter((name) => name !== 'login');
  const streams = ((active * streamHours) / 24) * peak;
  const instances = Math.max(2, Math.ceil(cores(others, 'service')), Math.ceil(streams / instance.streams));
  const postgresCores = cores(names, 'postgres');
  const replicaCores = cores(onReplica, 'postgres');
  const wal = perDayOf(names, 'wal');
  const connections = instances * instance.directConnections + Math.ceil(postgresCores * pooledPerCore);

  const newRows = {
    posts: ofRequests(['create-post']),
    partner_requests: ofRequests(['create-request']),
    notifications: ofRequests(['create-request', 'answer']),
    idempotency_keys: ofRequests(['create-post', 'create-request']),
  };
  const bytes = (table: string, count: number) => count * (rows[table] ?? Number.NaN) * bloat;
  const ofUsers = Object.entries(rowsPerUser).map(([table, each]) => bytes(table, users * each));
  const ofDays = (days: number) =>
    Object.entries(newRows).map(([table, each]) =>
      bytes(table, each * Math.min(days, keptDays[table] ?? days)),
    );
  const readShare = assumed['of these, the share that is read, and so kept for a year'];
  /** Matches that are kept of some days: those that are not read are deleted after `MATCH_TTL`. */
  const matchesOf = (days: number) => matches * (readShare * Math.min(days, 365) + (1 - readShare) * 30);
  const ofMatches = (days: number) => bytes('notifications', matchesOf(days));
  const notifications = newRows.notifications * 365 + matchesOf(365);
  const storage = (years: number) => sum(ofUsers) + ofMatches(365 * years) + sum(ofDays(365 * years));
  const readOften = sum(ofUsers) + sum(ofDays(hotDays)) + ofMatches(hotDays);

  const cells: Record<string, string> = {
    'requests/s at the peak': short(atPeak(requests)),
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
    'images after the first year': formatBytes(
      365 * ofRequests(['upload-image']) * assumed['bytes of an image with its thumbnail'],
    ),
    'cores of PostgreSQL for matches': short(cores(['match'], 'postgres')),
    'WAL a day': formatBytes(wal),
    'rows a second that expire': short(
      (ofRequests(['login']) + newRows.notifications + matches) / secondsPerDay,
    ),
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
