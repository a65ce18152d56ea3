import type { Command } from 'commander';
import { leaf, withOperator } from '../command.ts';
import type { Invocation } from '../invocation.ts';

/** The commands of `dure users` that change an account. */
export function addUserChanges(users: Command, invocation: Invocation, whichUser: string): void {
  const load = () => import('./actions.ts');
  const notFound = '3  there is no such user';

  withOperator(
    leaf(users, 'suspend <user>', {
      summary: 'suspend an account',
      description: `Suspends an account: its sessions end at once, on every instance, it cannot log in, and its store and posts are not found. Nothing is deleted, see \`dure users reactivate\`. A second suspension changes the reason. The user is ${whichUser}.`,
      examples: ["dure users suspend minji --reason 'sends advertisements'"],
      exitCodes: [
        notFound,
        '4  the reason is longer than 1,000 characters or has characters that cannot be kept',
      ],
    }).requiredOption('--reason <text>', 'why, for other operators; the user does not see it'),
  ).action(async (user: string, options: { reason: string; operator?: string }) =>
    (await load()).suspendUser(invocation, user, options),
  );

  withOperator(
    leaf(users, 'reactivate <user>', {
      summary: 'lift a suspension',
      description: `Lifts the suspension of an account, if there is one. Its store and posts are found again; its user logs in anew. The user is ${whichUser}.`,
      examples: ['dure users reactivate minji'],
      exitCodes: [notFound],
    }),
  ).action(async (user: string, options: { operator?: string }) =>
    (await load()).reactivateUser(invocation, user, options),
  );

  withOperator(
    leaf(users, 'make-admin <user>', {
      summary: 'let an account administer through the API, or take that away',
      description: `Gives an account the role admin, which may use the operations below /api/v1/admin/, or with --revoke takes it back. It holds at the next request of the user. The user is ${whichUser}.`,
      examples: ['dure users make-admin minji', 'dure users make-admin minji --revoke'],
      exitCodes: [notFound],
    }).option('--revoke', 'make it an ordinary account again'),
  ).action(async (user: string, options: { revoke?: true; operator?: string }) =>
    (await load()).makeAdmin(invocation, user, options),
  );

  withOperator(
    leaf(users, 'end-sessions <user>', {
      summary: 'log an account out everywhere',
      description: `Ends all sessions of an account at once, on every instance; its user can log in again. The user is ${whichUser}.`,
      examples: ['dure users end-sessions minji'],
      exitCodes: [notFound],
    }),
  ).action(async (user: string, options: { operator?: string }) =>
    (await load()).endSessions(invocation, user, options),
  );

  withOperator(
    leaf(users, 'delete <user>', {
      summary: 'delete an account for good',
      description: `Deletes an account for good, as its user can: its posts disappear, requests to it are withdrawn or end, the other sides get a notification, and its username and e-mail address are free again. Asks for the username at a terminal; elsewhere it needs --yes. The user is ${whichUser}.`,
      examples: [
        'dure users delete minji',
        "dure users delete 12 --yes minji --reason 'asked for it by mail'",
      ],
      exitCodes: [notFound, '4  what was typed or given with --yes is not the username'],
    })
      .option('--yes <username>', 'the username, so that nothing is asked')
      .option('--reason <text>', 'why, for the audit entry'),
  ).action(async (user: string, options: { yes?: string; reason?: string; operator?: string }) =>
    (await load()).deleteUser(invocation, user, options),
  );
}
