import type pg from 'pg';
import { ApiError } from '../http/errors.ts';
import {
  ConfigError,
  type DatabaseLocation,
  loadDatabaseSettings,
  locateDatabase,
} from '../infrastructure/config/config.ts';
import { type Database, int8AsNumber, openDatabase } from '../infrastructure/database/client.ts';
import { DatabaseConnectError, withClient } from '../infrastructure/database/connection.ts';
import { reasonOf, unavailableReason } from '../infrastructure/database/errors.ts';
import { MigrationError, pendingMigrations } from '../infrastructure/database/migrations.ts';
import { CommandError, exitCodes } from './command.ts';

/**
 * Runs work that needs the database: that of the environment, or the embedded one, which is started if no service runs there, and
 * created only with `create`.
 */
export async function withLocation<Result>(
  environment: NodeJS.ProcessEnv,
  work: (location: DatabaseLocation) => Promise<Result>,
  options: { create?: boolean } = {},
): Promise<Result> {
  const { stop, ...location } = await locateDatabase(loadDatabaseSettings(environment), async (directory) => {
    const { reachEmbeddedServer } = await import('../development/embedded-postgres/server.ts');
    return reachEmbeddedServer(directory, options);
  });
  try {
    return await work(location);
  } finally {
    await stop();
  }
}

/** Runs work with one connection that has a session. */
export function withSession<Result>(
  { directUrl: connectionString }: Pick<DatabaseLocation, 'directUrl'>,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  return withClient({ connectionString, connectionTimeoutMillis: 5_000, types: int8AsNumber }, work);
}

/** Runs work with the database, within the time limits of requests. @throws {CommandError} `migrations_pending` */
export async function withDatabase<Result>(
  environment: NodeJS.ProcessEnv,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return withLocation(environment, async (location) => {
    await withSession(location, rejectPending);
    const database = openDatabase({ ...location, poolSize: 2 });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  });
}

/** @throws {CommandError} `migrations_pending` */
export async function rejectPending(client: pg.Client): Promise<void> {
  const pending = await pendingMigrations(client);
  if (pending.length === 0) return;
  const names = pending.length === 1 ? pending[0] : `${pending.length} migrations`;
  throw new CommandError(
    'migrations_pending',
    `the database does not have ${names} of this release yet: run \`dure migrate up\``,
  );
}

/** What the operator sees of an error of the service: those that can be acted on in one line, others with their stack. */
export function toCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (error instanceof ApiError) {
    // A rule of the service, in the words of the API.
    const { code, status, text } = error.definition;
    return new CommandError(code, text.en, status === 404 ? exitCodes.notFound : exitCodes.rejected);
  }
  if (error instanceof ConfigError) {
    const problems = error.problems.join('; ');
    return new CommandError('invalid_configuration', `the configuration cannot be used: ${problems}`);
  }
  const failed = (code: string, message: string) => new CommandError(code, message, exitCodes.failed);
  if (error instanceof DatabaseConnectError) return failed('database_unavailable', error.message);
  if (error instanceof MigrationError) return failed('migration_failed', error.message);
  const message = reasonOf(error);
  // Its class is loaded with the embedded server only.
  if (error instanceof Error && error.name === 'EmbeddedServerError')
    return failed('embedded_database_unavailable', error.message);
  if (unavailableReason(error) !== undefined)
    return failed('database_unavailable', `the database failed: ${message}`);
  return failed('unexpected', error instanceof Error ? (error.stack ?? message) : message);
}
