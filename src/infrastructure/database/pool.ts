import pg from 'pg';
import { readOnlyState } from './errors.ts';

/** Opens a pool whose connections may break, and that leaves servers which take no writes. */
export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ keepAlive: true, ...config });
  // An idle connection that breaks is replaced at its next use; without a listener the process would end.
  pool.on('error', () => undefined);
  // One that breaks in a transaction, between two statements: the next statement fails.
  pool.on('connect', (client) => client.on('error', () => undefined));
  leaveReadOnlyServers(pool);
  return pool;
}

/**
 * Ends the connection where its server takes no writes, such as a standby; through a pooler, the pooler's connection to the
 * server. Otherwise it changes nothing. In a failed transaction it needs a `ROLLBACK` before.
 */
export const endIfReadOnly = `
  SELECT CASE WHEN current_setting('transaction_read_only')::bool THEN pg_terminate_backend(pg_backend_pid()) END`;

/**
 * After a switchover, connections may stay on the server that was the primary, also through a pooler. When a statement fails
 * there, its connection is ended, so that the next one is made to the primary.
 */
function leaveReadOnlyServers(pool: pg.Pool): void {
  const statement = `ROLLBACK; ${endIfReadOnly}`;
  pool.on('connect', (client) => {
    client.connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code !== readOnlyState) return;
      // The pool closes the connection of a failed statement outside a transaction by itself, but not that of a pooler.
      client.once('drain', () => {
        client
          .query(statement)
          .catch(() => pool.query(statement))
          .catch(() => undefined);
      });
    });
  });
}
