import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Metrics } from '../telemetry/metrics.ts';
import { type DatabaseOptions, openConnections, type Reader } from './client.ts';
import { reasonOf } from './errors.ts';
import type { OwnWrites } from './own-writes.ts';
import { sql } from './sql.ts';

/**
 * Reads for a user from the replica, or from the primary where the replica may not answer. The work runs again on the primary
 * when the replica fails or has no result.
 */
export type Read = <Result>(userId: number, work: (tx: Reader) => Promise<Result>) => Promise<Result>;

/** Milliseconds. A read from the replica shows everything that was committed so long before. */
const maxLag = 2_000;
/** Milliseconds between two samples of the primary. */
const sampleInterval = 500;
/** Milliseconds. A connection that is known to be behind by more is checked before it is used. */
const renewAfter = 1_000;

/** In milliseconds: short, because the primary has to answer within the time of the same request when they are over. */
const limits = { connect: 500, lock: 500, statement: 1_500, idleInTransaction: 5_000, query: 2_000 };
/** Milliseconds after which no further statement of a request begins on the replica. */
const workLimit = 1_000;

/** A place in the history of a database. A standby contains what was committed before the places that it has passed. */
interface Position {
  /** The cluster and the database in it: those of a physical copy are the same. */
  database: string;
  /** Each promotion begins a new one. */
  timeline: number;
  /** Bytes of the log (WAL). */
  lsn: number;
}

/*
 * The time of the last replayed transaction does not tell the lag: it stands still while nothing is written, and receiver and
 * replay agree when the connection to the primary is broken. So the position of the primary is compared.
 */

/** `pg_current_wal_lsn`: its `insert` variant is ahead of every standby at the end of a WAL segment. */
const primaryPosition = sql`/* replica.primaryPosition */
  SELECT system_identifier || ' ' || current_database() AS database,
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int AS timeline,
    (pg_current_wal_lsn() - '0/0')::bigint AS lsn
  FROM pg_control_system()`;

/** The timeline is that of the last restartpoint, or newer, and so never ahead of what was replayed. */
const replicaPosition = sql`/* replica.position */
  SELECT system_identifier || ' ' || current_database() AS database,
    greatest(timeline_id, min_recovery_end_timeline) AS timeline,
    CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0')::bigint END AS lsn
  FROM pg_control_system(), pg_control_checkpoint(), pg_control_recovery()`;

type ReplicaPosition = Omit<Position, 'lsn'> & { lsn: number | null };

/** What answers a read: the replica, or the primary and why. */
const sources = ['replica', 'own_write', 'not_found', 'unavailable'] as const;
type Source = (typeof sources)[number];

interface ReplicaOptions extends DatabaseOptions {
  primary: Reader;
  ownWrites: OwnWrites;
  metrics: Metrics;
  logger: FastifyBaseLogger;
}

/**
 * Opens the connections to a replica, a physical standby. Each of them is checked by itself, so that the URL may lead to several
 * replicas. Nothing is read from the replica until `watch` has found that it is not behind.
 */
export function openReplica({ primary, ownWrites, metrics, logger, ...options }: ReplicaOptions) {
  const { pool, statementsOn } = openConnections(options, limits);
  const { limitFactor = 1 } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const reads = metrics.addCounter(
    'replica_reads_total',
    'Reads that the replica may answer, by what answered: it, or the primary and why',
    { source: sources },
  );

  /** Where the primary was, and when; the last ones of {@link maxLag}. */
  let samples: (Position & { at: number })[] = [];
  /** Of each connection: its server has everything that was committed before this time. */
  const upToDateAt = new WeakMap<pg.PoolClient, number>();
  let lastUpToDateAt = performance.now();
  metrics.addGauge(
    'replica_lag_seconds',
    'The replica has everything that was committed so long ago',
    () => (performance.now() - lastUpToDateAt) / 1_000,
  );

  /** Why the replica is not read; undefined while it is. */
  let problem: string | undefined = 'it was not checked yet';
  function setProblem(reason: string | undefined): void {
    if (reason === problem || signal.aborted) return;
    problem = reason;
    if (reason === undefined) logger.info('the replica is read');
    else logger.warn({ reason }, 'the replica is not read');
  }

  async function samplePrimary(): Promise<void> {
    // Before the query, so that a slow response makes the sample older, not newer.
    const at = performance.now();
    const [position] = await primary.query<Position>(primaryPosition);
    if (position) samples = [...samples.filter((sample) => at - sample.at < maxLag), { ...position, at }];
  }

  const lagOf = (client: pg.PoolClient) => performance.now() - (upToDateAt.get(client) ?? -maxLag);

  /** @throws when the server of the connection may lack something that was committed {@link maxLag} ago */
  async function checkConnection(client: pg.PoolClient, tx: Reader): Promise<void> {
    const [replica] = await tx.query<ReplicaPosition>(replicaPosition);
    const latest = samples.at(-1);
    if (!replica || !latest) throw new Error('the primary does not respond');
    const { database, timeline, lsn } = replica;
    if (lsn === null) throw new Error('it is no standby');
    if (database !== latest.database) throw new Error('it is a copy of another database');
    const passed = samples.findLast((sample) => sample.timeline === timeline && sample.lsn <= lsn);
    if (passed) {
      upToDateAt.set(client, passed.at);
      lastUpToDateAt = Math.max(lastUpToDateAt, passed.at);
    }
    if (timeline !== latest.timeline) throw new Error('it is not on the timeline of the primary yet');
    if (lagOf(client) > maxLag) throw new Error('it is behind');
  }

  /** Runs work on a replica, whose connection is checked where it may be behind by `maxAge` milliseconds. @throws when it is, or fails */
  async function onReplica<Result>(
    work: (tx: Reader) => Promise<Result>,
    maxAge = renewAfter,
  ): Promise<Result> {
    const client = await pool.connect();
    const startedAt = performance.now();
    let isBroken = true;
    try {
      const connection = statementsOn(() => client);
      const isLate = () => performance.now() - startedAt > workLimit * limitFactor;
      const tx: Reader = {
        query: (statement) =>
          isLate() ? Promise.reject(new Error('it is slow')) : connection.query(statement),
      };
      if (lagOf(client) > maxAge) await checkConnection(client, tx);
      const result = await work(tx);
      isBroken = false;
      return result;
    } finally {
      // Also one whose server is behind: the next one may lead to another server.
      client.release(isBroken);
    }
  }

  const read: Read = async (userId, work) => {
    const { source, result } = await ask(userId, work);
    reads.inc({ source });
    return result ?? work(primary);
  };

  async function ask<Result>(
    userId: number,
    work: (tx: Reader) => Promise<Result>,
  ): Promise<{ source: Source; result?: Result }> {
    if (problem !== undefined) return { source: 'unavailable' };
    if (await ownWrites.isRecent(userId)) return { source: 'own_write' };
    try {
      const result = await onReplica(work);
      // Another user may have written it less than the lag ago.
      return result === undefined ? { source: 'not_found' } : { source: 'replica', result };
    } catch (error) {
      // No request waits for it until `watch` finds it in order.
      setProblem(reasonOf(error));
      return { source: 'unavailable' };
    }
  }

  async function check(): Promise<void> {
    try {
      await samplePrimary();
      await onReplica(async () => undefined, 0);
      setProblem(undefined);
    } catch (error) {
      setProblem(reasonOf(error));
    }
  }

  /** Samples the primary and checks the replica until `close`. */
  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await check();
      await sleep(sampleInterval, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  return {
    read,
    watch,
    async close(): Promise<void> {
      closing.abort();
      await pool.end();
    },
  };
}
