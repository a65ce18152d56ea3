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
