import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import { isId } from '../../http/path-ids.ts';
import { CommandError, exitCodes } from '../command-error.ts';
import type { Invocation } from '../invocation.ts';
import type { Services } from '../services.ts';

/**
 * Makes sure that the operator means this account: by its username, which is given or typed.
 *
 * @param given with `--yes`
 * @throws {CommandError} `confirmation_required`, `not_confirmed`
 */
export async function confirmUsername(
  { isInteractive }: Invocation,
  { users }: Services,
  id: number,
  given: string | undefined,
): Promise<void> {
  if (given === undefined && !isInteractive) {
    throw new CommandError(
      'confirmation_required',
      'nothing was deleted: there is no terminal to ask at, so add --yes with the username of the account',
      exitCodes.usage,
    );
  }
  const name = given ?? (await ask(`Type the username of account ${id} to delete it for good: `));
  const isUsername = !isId(name) && !name.includes('@');
  if (isUsername && (await users.findId(name)) === id) return;
  throw new CommandError(
    'not_confirmed',
    `nothing was deleted: "${name}" is not the username of account ${id}`,
  );
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new AbortController();
  // Ctrl-C and Ctrl-D, which otherwise leave the question open for ever.
  terminal.once('SIGINT', () => ended.abort());
  terminal.once('close', () => ended.abort());
  try {
    return (await terminal.question(question, { signal: ended.signal })).trim();
  } catch (error) {
    if (ended.signal.aborted) return '';
    throw error;
  } finally {
    terminal.close();
  }
}
