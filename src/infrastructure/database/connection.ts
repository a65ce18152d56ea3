import pg from 'pg';
import { readOnlyState, reasonOf } from './errors.ts';

/** No connection to the database; the message says in one line where it was looked for and why there is none. */
export class DatabaseConnectError extends Error {
  override readonly name = 'DatabaseConnectError';
}

/** Runs work with a connection of its own. @throws {DatabaseConnectError} without the password */
export async function withClient<Result>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(config);
  // An unhandled error event would end the process; the next query reports a lost connection.
  client.on('error', () => undefined);
  await client.connect().catch((cause: unknown) => {
    const { host, port, database = '' } = client;
    const place = host.startsWith('/') ? `the socket in ${host}` : `${host}:${port}`;
    const message = `the database ${database} at ${place} cannot be reached: ${reasonOf(cause)}`;
    throw new DatabaseConnectError(message, { cause });
  });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The oldest version of PostgreSQL that is supported. */
const oldestVersion = 14;

/**
 * Looks at the start for what would make the service fail later. A database that cannot be reached at the moment passes.
 *
 * @throws {DatabaseConnectError} for a version that is too old, an encoding without Korean, a pooler that drops settings, TLS that does not work
 */
export async function checkServer(connectionString: string): Promise<void> {
  const options = '-c plan_cache_mode=force_generic_plan';
  const limits = { connectionTimeoutMillis: 3_000, query_timeout: 3_000 };
  const settings = `SELECT current_setting('server_encoding') AS encoding,
    current_setting('server_version_num')::int / 10000 AS version,
    current_setting('plan_cache_mode') = 'force_generic_plan' AS "isKept"`;
  const { row, reason } = await withClient({ connectionString, options, ...limits }, (client) =>
    client.query<{ encoding: string; version: number; isKept: boolean }>(settings),
  ).then(
    ({ rows: [row] }) => ({ row, reason: '' }),
    (error: unknown) => ({ row: undefined, reason: reasonOf(error) }),
  );
  if (row?.isKept === false || reason.includes('unsupported startup parameter'))
    throw new DatabaseConnectError(
      'DATABASE_URL leads to a transaction pooler such as PgBouncer: set DATABASE_DIRECT_URL, which leads past it, too',
    );
  if (row && row.version < oldestVersion)
    throw new DatabaseConnectError(
      `the database is PostgreSQL ${row.version}: ${oldestVersion} or newer is needed`,
    );
  if (row && row.encoding !== 'UTF8')
    throw new DatabaseConnectError(
      `the database has the encoding ${row.encoding}: create it with ENCODING 'UTF8'`,
    );
  if (/SSL|certificate/i.test(reason)) throw new DatabaseConnectError(reason);
}

/**
 * Ends the connection where its server takes no writes, such as a standby; through a pooler, the pooler's connection to the
 * server. Otherwise it changes nothing. In a failed transaction it needs a `ROLLBACK` before.
 */
export const endIfReadOnly = `
  SELECT CASE WHEN current_setting('transaction_read_only')::bool THEN pg_terminate_backend(pg_backend_pid()) END`;

/**
 * Opens a pool whose connections may break, and that leaves servers which take no writes: after a switchover, connections may stay
 * on the server that was the primary, also through a pooler. When a statement fails there, its connection is ended, so that the
 * next one is made to the primary.
 */
export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ keepAlive: true, ...config });
  const statement = `ROLLBACK; ${endIfReadOnly}`;
  // An idle connection that breaks is replaced at its next use; without a listener the process would end.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    // One that breaks in a transaction, between two statements: the next statement fails.
    client.on('error', () => undefined);
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
  return pool;
}
