import pg from 'pg';
import { reasonOf } from './queue.ts';

/** The signs of life of the workers of one instance, on a connection of their own. */
export interface WorkerLocks {
  /** Shows that this pool of workers is alive, for as long as the connection lives. */
  hold(poolId: string): Promise<void>;
  /**
   * Frees the jobs of pools that are not alive any more: killed, or cut off from the database.
   *
   * @returns the number of such pools
   */
  freeAbandonedJobs(): Promise<number>;
  /** Resolves with the reason when the connection is gone, and the locks with it. */
  lost: Promise<string>;
  release(): Promise<void>;
}

/** Of what a host that vanished leaves behind PostgreSQL would hear after two hours; a killed process is noticed at once. */
const noticeVanishedHosts = `
  SET tcp_keepalives_idle = 10;
  SET tcp_keepalives_interval = 5;
  SET tcp_keepalives_count = 2`;

/**
 * A pool holds a session lock made from its id, which PostgreSQL releases when the process ends in whatever way. So
 * whoever gets the lock of a job's holder knows that this one is gone.
 */
const freeAbandoned = `
  WITH holders AS MATERIALIZED (
    SELECT DISTINCT locked_by FROM graphile_worker.jobs WHERE locked_by <> ALL ($1::text[])
  ), gone AS MATERIALIZED (
    SELECT locked_by FROM holders WHERE pg_try_advisory_xact_lock(hashtextextended(locked_by, 0))
  )
  SELECT graphile_worker.force_unlock_workers(array_agg(locked_by)), count(*)::int AS pools
  FROM gone HAVING count(*) > 0`;

/**
 * Opens the connection that the locks live on.
 *
 * @param connection must lead to a session of its own: not through a pooler in transaction mode
 */
export async function openWorkerLocks(connection: pg.ClientConfig): Promise<WorkerLocks> {
  const client = new pg.Client(connection);
  let lose: (reason: string) => void = () => undefined;
  const lost = new Promise<string>((resolve) => {
    lose = resolve;
  });
  client.on('error', (error) => lose(error.message));
  await client.connect();
  try {
    await client.query(noticeVanishedHosts);
  } catch (error) {
    await client.end();
    throw error;
  }
  const held: string[] = [];
  let last: Promise<unknown> = Promise.resolve();
  /** One query after the other: a client takes no second one while it is busy. */
  const query = <Row extends pg.QueryResultRow>(text: string, values: unknown[]) => {
    const result = last.then(() => client.query<Row>(text, values));
    last = result.catch(() => undefined);
    return result;
  };

  return {
    lost,
    async hold(poolId) {
      try {
        await query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [poolId]);
        held.push(poolId);
      } catch (error) {
        // Without its lock the jobs of the pool would look abandoned.
        lose(`the pool's lock was not taken: ${reasonOf(error)}`);
        throw error;
      }
    },
    async freeAbandonedJobs() {
      try {
        const { rows } = await query<{ pools: number }>(freeAbandoned, [held]);
        return rows[0]?.pools ?? 0;
      } catch (error) {
        // An error that PostgreSQL sent came over a connection that works.
        if (!(error instanceof pg.DatabaseError)) lose(reasonOf(error));
        throw error;
      }
    },
    release: () => client.end(),
  };
}
