import { Command, CommanderError } from 'commander';
import { version } from '../infrastructure/config/readers.ts';
import { addAuditCommand } from './audit.ts';
import { CommandError, exitCodes, type Invocation } from './command.ts';
import { addConfigCommands } from './config.ts';
import { addJobCommands } from './jobs.ts';
import { addMailCommands } from './mails.ts';
import { addMigrateCommands } from './migrate.ts';
import { addSecretCommands } from './secrets.ts';
import { addStatsCommand } from './stats.ts';
import { addUserCommands } from './users.ts';

/** In the order of the help. */
const commands = [
  ...[addStatsCommand, addUserCommands, addMailCommands, addJobCommands, addConfigCommands],
  ...[addMigrateCommands, addSecretCommands, addAuditCommand],
];

const description = `Administration of Dure. It works on the database directly, with the environment variables of the service, whether the service runs or not; where it has a database of its own (without DATABASE_URL), in the folder of the service.`;

const epilogue = `
Examples:
  dure stats
  dure users show minji
  dure users suspend minji --reason 'sends advertisements'
  dure config check

Exit codes:
  0  done
  1  failed, such as an unreachable database
  2  wrong usage
  3  not found
  4  rejected, such as an invalid configuration or nothing to unlock

Results are on standard output, everything else on standard error. \`dure <command> --help\` explains a command.`;

/** All commands. Loads nothing that a command needs to run, so that the help is quick. */
export function createProgram(invocation: Invocation): Command {
  const program = new Command('dure')
    .description(description)
    .version(version, '-v, --version', 'show the version')
    .addHelpText('after', epilogue)
    .helpCommand('help [command]', 'explain a command')
    .exitOverride()
    .configureOutput({ writeOut: invocation.output.raw, writeErr: () => undefined });
  for (const add of commands) add(program, invocation);
  return program;
}

/** Runs a command line. @returns the exit code; errors are written, never thrown */
export async function runProgram(args: readonly string[], invocation: Invocation): Promise<number> {
  const program = createProgram(invocation);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError && !(error instanceof CommandError))
      return rejectUsage(error, invocation);
    const isKnown = error instanceof CommandError;
    const shown = isKnown ? error : (await import('./connection.ts')).toCommandError(error);
    invocation.output.fail(shown);
    return shown.exitCode;
  }
}

/** Help that was asked for is a success; a command that lacks its second word is not. */
function rejectUsage({ exitCode, code, message }: CommanderError, { output }: Invocation): number {
  if (exitCode === 0) return exitCodes.done;
  const isIncomplete = code === 'commander.help';
  const text = isIncomplete ? 'which command? `dure --help` lists them' : message.replace(/^error: /, '');
  output.fail({ code: 'usage', message: text.replaceAll('\n', ' ') });
  return exitCodes.usage;
}
