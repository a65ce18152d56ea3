import type { Command } from 'commander';
import { group, leaf, wholeNumber, withOperator } from './command.ts';
import type { Invocation } from './invocation.ts';
import { addUserChanges } from './users/changes.ts';

const whichUser = 'its id, username or e-mail address';

/** `dure users`. */
export function addUserCommands(program: Command, invocation: Invocation): void {
  const users = group(program, 'users', 'Accounts');
  const load = () => import('./users/actions.ts');

  withOperator(
    leaf(users, 'list [text]', {
      summary: 'list accounts, newest first',
      description:
        'Lists accounts, newest first: all, or those whose username, e-mail address or name contains a text. A search looks at 5,000 accounts at a time; where there are more, it prints the --cursor with which to continue.',
      examples: ['dure users list', 'dure users list dure --limit 100', 'dure users list --json'],
    })
      .option('--limit <number>', 'at most so many', wholeNumber(1, 100), 20)
      .option('--cursor <text>', 'continue the list, as the one before says'),
  ).action(async (text: string | undefined, options: { limit: number; cursor?: string; operator?: string }) =>
    (await load()).listUsers(invocation, text, options),
  );

  withOperator(
    leaf(users, 'show <user>', {
      summary: 'show one account',
      description: `Shows an account with its store and, where it is suspended, since when and why. The user is ${whichUser}.`,
      examples: ['dure users show minji', 'dure users show minji@example.com --json', 'dure users show 12'],
      exitCodes: ['3  there is no such user'],
    }),
  ).action(async (user: string, options: { operator?: string }) =>
    (await load()).showUser(invocation, user, options),
  );

  withOperator(
    leaf(users, 'sessions <user>', {
      summary: 'list the live sessions of an account',
      description: `Lists the logins that still work, newest first, with device and address. The user is ${whichUser}.`,
      examples: ['dure users sessions minji', 'dure users sessions 12 --json'],
      exitCodes: ['3  there is no such user'],
    })
      .option('--limit <number>', 'at most so many', wholeNumber(1, 100), 20)
      .option('--cursor <text>', 'continue the list, as the one before says'),
  ).action(async (user: string, options: { limit: number; cursor?: string; operator?: string }) =>
    (await load()).listSessions(invocation, user, options),
  );

  addUserChanges(users, invocation, whichUser);
}
