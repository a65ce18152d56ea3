import { ConfigError } from '../config/config.ts';
import { DatabaseConnectError } from '../database/connect-error.ts';
import { isDatabaseUnavailable } from '../database/errors.ts';
import { MigrationError } from '../database/migrations.ts';
import { EmbeddedServerError } from '../embedded-postgres/server.ts';
import { ApiError } from '../http/errors.ts';
import { reasonOf } from '../mail/send-mail.ts';
import { CommandError, exitCodes } from './command-error.ts';

/** What the operator sees of an error: those that can be acted on in one line, others with their stack. */
export function toFailure(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (error instanceof ApiError) return ofService(error);
  if (error instanceof ConfigError) {
    const problems = error.problems.join('; ');
    return new CommandError('invalid_configuration', `the configuration cannot be used: ${problems}`);
  }
  if (error instanceof DatabaseConnectError) return failed('database_unavailable', error.message);
  if (error instanceof EmbeddedServerError) return failed('embedded_database_unavailable', error.message);
  if (error instanceof MigrationError) return failed('migration_failed', error.message);
  const message = reasonOf(error);
  if (isDatabaseUnavailable(error)) return failed('database_unavailable', `the database failed: ${message}`);
  return failed('unexpected', error instanceof Error ? (error.stack ?? message) : message);
}

/** A rule of the service, in the words of the API. */
function ofService({ definition }: ApiError): CommandError {
  const exitCode = definition.status === 404 ? exitCodes.notFound : exitCodes.refused;
  return new CommandError(definition.code, definition.text.en, exitCode);
}

function failed(code: string, message: string): CommandError {
  return new CommandError(code, message, exitCodes.failed);
}
