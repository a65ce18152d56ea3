import type pg from 'pg';

/** No connection to the database; the message says in one line where it was looked for and why there is none. */
export class DatabaseConnectError extends Error {
  override readonly name = 'DatabaseConnectError';
}

/** By codes of Node.js and of PostgreSQL. */
const reasons: Record<string, string> = {
  ECONNREFUSED: 'connection refused; is PostgreSQL running, and is this its port?',
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the host',
  ENOENT: 'there is no such socket',
  ECONNRESET: 'the connection was reset',
  ETIMEDOUT: 'no answer',
  '28P01': 'the user or the password is refused',
  '28000': 'the user may not connect from here',
  '3D000': 'this database does not exist on the server',
  '53300': 'the server has no connection left',
  '57P03': 'the server is starting or shutting down',
};

/**
 * Connects a client.
 *
 * @throws {DatabaseConnectError} without the password
 */
export async function connect(client: pg.Client): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    const { host, port, database = '' } = client;
    const place = host.startsWith('/') ? `the socket in ${host}` : `${host}:${port}`;
    throw new DatabaseConnectError(
      `the database ${database} at ${place} cannot be reached: ${describe(error)}`,
      { cause: error },
    );
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  if (/timeout/i.test(error.message)) return 'no answer';
  const reason = reasons[code];
  const text = error.message.split('\n', 1)[0] || 'unknown failure';
  return reason === undefined ? text : `${reason} (${code})`;
}
