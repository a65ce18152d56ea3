import pg from 'pg';
import { type DatabaseLocation, loadDatabaseSettings, locateDatabase } from '../config/database-settings.ts';
import { type Database, openDatabase, type Queryable } from '../database/client.ts';
import { connect } from '../database/connect-error.ts';
import { pendingMigrations } from '../database/migrations.ts';
import type { Sql } from '../database/sql.ts';
import { reachEmbeddedServer } from '../embedded-postgres/running-server.ts';
import { CommandError } from './command-error.ts';

/** Milliseconds. */
const slowStatementTimeout = 60_000;

/**
 * Runs work that needs the database: that of the environment, or the embedded one in the folder, which is started for the
 * command if no service runs there.
 *
 * @param options.create whether an embedded database is created where there is none
 */
export async function withLocation<Result>(
  environment: NodeJS.ProcessEnv,
  work: (location: DatabaseLocation) => Promise<Result>,
  options: { create?: boolean } = {},
): Promise<Result> {
  const { stop, ...location } = await locateDatabase(loadDatabaseSettings(environment), (directory) =>
    reachEmbeddedServer(directory, options),
  );
  try {
    return await work(location);
  } finally {
    await stop();
  }
}

/** Runs work with one connection that has a session. */
export async function withClient<Result>(
  { directUrl }: Pick<DatabaseLocation, 'directUrl'>,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: directUrl, connectionTimeoutMillis: 5_000 });
  // An unhandled error event would end the process; the next query reports a lost connection.
  client.on('error', () => undefined);
  await connect(client);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Runs work with the database, after a look at whether it has the schema of this release. Statements have the time limits of
 * requests.
 *
 * @throws {CommandError} `migrations_pending`
 */
export async function withDatabase<Result>(
  environment: NodeJS.ProcessEnv,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return withLocation(environment, async (location) => {
    await withClient(location, refusePending);
    const database = openDatabase({ ...location, poolSize: 2, onError: () => undefined });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  });
}

/**
 * Runs statements that may take longer than a request, after the same look.
 *
 * @throws {CommandError} `migrations_pending`
 */
export async function withSlowStatements<Result>(
  environment: NodeJS.ProcessEnv,
  work: (database: Queryable) => Promise<Result>,
): Promise<Result> {
  return withLocation(environment, (location) =>
    withClient(location, async (client) => {
      await refusePending(client);
      await client.query(`SET statement_timeout = ${slowStatementTimeout}`);
      const run = <Row extends pg.QueryResultRow>({ text, values }: Sql) =>
        client.query<Row>({ text, values });
      return work({
        query: async <Row extends pg.QueryResultRow>(statement: Sql) => (await run<Row>(statement)).rows,
        execute: async (statement) => (await run(statement)).rowCount ?? 0,
      });
    }),
  );
}

async function refusePending(client: pg.Client): Promise<void> {
  const pending = await pendingMigrations(client);
  if (pending.length === 0) return;
  const names = pending.length === 1 ? pending[0] : `${pending.length} migrations`;
  throw new CommandError(
    'migrations_pending',
    `the database does not have ${names} of this release yet: run \`dure migrate up\``,
  );
}
