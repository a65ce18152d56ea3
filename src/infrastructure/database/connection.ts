import pg from 'pg';
import { reasonOf } from './errors.ts';

/** No connection to the database; the message says in one line where it was looked for and why there is none. */
export class DatabaseConnectError extends Error {
  override readonly name = 'DatabaseConnectError';
}

/**
 * Runs work with a connection of its own.
 *
 * @throws {DatabaseConnectError} without the password
 */
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

const planCacheMode = 'force_generic_plan';

/**
 * Looks at the start for what would let the service fail later: an encoding without Korean, a pooler that drops the settings of a
 * connection, TLS that does not work. A database that cannot be reached at the moment passes.
 *
 * @param url without a transaction pooler
 * @throws {DatabaseConnectError}
 */
export async function checkServer(url: string): Promise<void> {
  const pooler =
    'DATABASE_URL leads to a transaction pooler such as PgBouncer: set DATABASE_DIRECT_URL, which leads past it, too';
  const options = `-c plan_cache_mode=${planCacheMode}`;
  const settings = { connectionString: url, options, connectionTimeoutMillis: 3_000, query_timeout: 3_000 };
  try {
    await withClient(settings, async (client) => {
      const { rows } = await client.query<{ encoding: string; mode: string }>(
        "SELECT current_setting('server_encoding') AS encoding, current_setting('plan_cache_mode') AS mode",
      );
      const { encoding, mode } = rows[0] ?? {};
      if (mode !== planCacheMode) throw new DatabaseConnectError(pooler);
      if (encoding === 'UTF8') return;
      throw new DatabaseConnectError(
        `the database has the encoding ${encoding}: create it with ENCODING 'UTF8'`,
      );
    });
  } catch (error) {
    const reason = reasonOf(error);
    if (/unsupported startup parameter/.test(reason))
      throw new DatabaseConnectError(pooler, { cause: error });
    const isLasting =
      error instanceof DatabaseConnectError && (!error.cause || /SSL|certificate/i.test(reason));
    if (isLasting) throw error;
  }
}
