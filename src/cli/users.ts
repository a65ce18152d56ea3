import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { AdminUser } from '../domains/admin/index.ts';
import {
  type AuditOptions,
  addCommand,
  addGroup,
  addPageOptions,
  CommandError,
  exitCodes,
  type Help,
  type Invocation,
  type PageOptions,
  printPage,
} from './command.ts';
import { pairs } from './output.ts';
import type { Services } from './services.ts';

const userColumns = ['id', 'username', 'email', 'name', 'role', 'verified'] as const;

/** `dure users`. */
export function addUserCommands(program: Command, invocation: Invocation): void {
  const { output } = invocation;
  const users = addGroup(program, 'users', 'Accounts');

  /** Adds a command that does something with one account. */
  function addUserCommand<Options extends AuditOptions>(
    name: string,
    { description, exitCodes: codes = [], ...help }: Help,
    run: (services: Services, id: number, options: Options) => Promise<void>,
  ): Command {
    const command = addCommand(users, `${name} <user>`, {
      ...help,
      description: `${description} The user is its id, username or email address.`,
      exitCodes: ['3  there is no such user', ...codes],
      isAudited: true,
    });
    return command.action(async (user: string, options: Options) => {
      const { withServices } = await import('./services.ts');
      await withServices(invocation, options, async (services) => {
        const id = await services.users.findId(user);
        if (id === undefined)
          throw new CommandError('user_not_found', `there is no user "${user}"`, exitCodes.notFound);
        await run(services, id, options);
      });
    });
  }
  const print = (user: AdminUser) =>
    output.result(user, () =>
      pairs(shownUser(user), [
        ...userColumns,
        'created_at',
        'last_login_at',
        'suspended_at',
        'suspended_reason',
        'store',
      ]),
    );

  const list = addCommand(users, 'list [text]', {
    summary: 'list accounts, newest first',
    description:
      'Lists accounts, newest first: all, or those whose username, email address or name contains a text. A search looks at 5,000 accounts at a time; where there are more, it prints the --cursor with which to continue.',
    examples: ['dure users list', 'dure users list dure --limit 100', 'dure users list --json'],
    isAudited: true,
  });
  addPageOptions(list).action(async (q: string | undefined, options: PageOptions) => {
    const { withServices } = await import('./services.ts');
    const page = await withServices(invocation, options, ({ users, operator }) =>
      users.list(operator, { ...options, q }),
    );
    const rows = page.items.map(shownUser);
    printPage(invocation, page, rows, [...userColumns, 'suspended', 'last_login_at', 'store'], 'no users');
  });

  addUserCommand(
    'show',
    {
      summary: 'show one account',
      description: 'Shows an account with its store and, where it is suspended, since when and why.',
      examples: ['dure users show minji', 'dure users show minji@example.com --json', 'dure users show 12'],
    },
    async ({ users, operator }, id) => print(await users.show(operator, id)),
  );

  const sessions = addUserCommand<PageOptions>(
    'sessions',
    {
      summary: 'list the live sessions of an account',
      description: 'Lists the logins that still work, newest first, with device and address.',
      examples: ['dure users sessions minji', 'dure users sessions 12 --json'],
    },
    async ({ users, operator }, id, options) => {
      const page = await users.listSessions(operator, id, options);
      const columns = ['id', 'created_at', 'last_used_at', 'ip', 'user_agent'] as const;
      printPage(invocation, page, page.items, columns, 'no sessions');
    },
  );
  addPageOptions(sessions);

  addUserCommand<AuditOptions & { reason: string }>(
    'suspend',
    {
      summary: 'suspend an account',
      description: `Suspends an account: its sessions end at once, on every instance, it cannot log in, and its store and posts are not found. Nothing is deleted, see \`dure users reactivate\`. A second suspension changes the reason.`,
      examples: ["dure users suspend minji --reason 'sends advertisements'"],
      exitCodes: ['4  the reason is longer than 1,000 characters or has characters that cannot be stored'],
    },
    async ({ users, operator }, id, { reason }) =>
      print(await users.suspend(operator, id, await cleanReason(reason))),
  ).requiredOption('--reason <text>', 'why, for other operators; the user does not see it');

  addUserCommand(
    'reactivate',
    {
      summary: 'lift a suspension',
      description:
        'Lifts the suspension of an account, if there is one. Its store and posts are found again; its user logs in again.',
      examples: ['dure users reactivate minji'],
    },
    async ({ users, operator }, id) => print(await users.reactivate(operator, id)),
  );

  addUserCommand<AuditOptions & { revoke?: true }>(
    'make-admin',
    {
      summary: 'let an account administer through the API, or undo that',
      description:
        'Gives an account the role admin, which may use the operations below /api/v1/admin/; --revoke undoes it. It holds at the next request of the user.',
      examples: ['dure users make-admin minji', 'dure users make-admin minji --revoke'],
    },
    async ({ users, operator }, id, { revoke }) =>
      print(await users.setRole(operator, id, revoke ? 'user' : 'admin')),
  ).option('--revoke', 'make it an ordinary account again');

  addUserCommand(
    'end-sessions',
    {
      summary: 'log an account out everywhere',
      description: 'Ends all sessions of an account at once, on every instance; its user can log in again.',
      examples: ['dure users end-sessions minji'],
    },
    async ({ users, operator }, id) => {
      await users.endSessions(operator, id);
      output.result({ id }, () => `the sessions of user ${id} have ended`);
    },
  );

  addUserCommand(
    'remove-second-factor',
    {
      summary: 'switch off the second factor of an account',
      description:
        'For a user who has lost the authenticator app and the recovery codes: check who asks. Logins then need no code, the recovery codes are void, and the user gets a notice. Sessions stay.',
      examples: ['dure users remove-second-factor minji'],
    },
    async ({ users, operator }, id) => {
      await users.removeSecondFactor(operator, id);
      output.result({ id }, () => `the second factor of user ${id} is off`);
    },
  );

  addUserCommand<AuditOptions & { yes?: string; reason?: string }>(
    'delete',
    {
      summary: 'delete an account permanently',
      description:
        'Deletes an account permanently, as its user can: its posts disappear, requests to it are withdrawn or end, the other sides get a notification, and its username and email address are free again. Asks for the username at a terminal; elsewhere it needs --yes.',
      examples: [
        'dure users delete minji',
        "dure users delete 12 --yes minji --reason 'asked for it by email'",
      ],
      exitCodes: ['4  what was typed or given with --yes is not the username'],
    },
    async ({ users, operator }, id, { yes, reason }) => {
      const cleaned = reason === undefined ? undefined : await cleanReason(reason);
      await confirmUsername(invocation, users, id, yes);
      await users.deleteAccount(operator, id, cleaned);
      output.result({ id }, () => `user ${id} is deleted`);
    },
  )
    .option('--yes <username>', 'the username, so that nothing is asked')
    .option('--reason <text>', 'why, for the audit entry');
}

function shownUser({ is_verified: verified, store, ...user }: AdminUser) {
  const suspended = user.suspended_at !== null;
  return { ...user, verified, suspended, store: store && `${store.id} ${store.name}` };
}

const maxReasonLength = 1_000;

/** Cleans the text of `--reason` as the API does. @throws {CommandError} `validation_error` */
async function cleanReason(text: string): Promise<string> {
  const { cleanText } = await import('../http/text.ts');
  const cleaned = cleanText('block', text);
  if ('problem' in cleaned || cleaned.text === '') {
    throw new CommandError('validation_error', 'the reason is empty or has characters that cannot be stored');
  }
  if ([...cleaned.text].length > maxReasonLength) {
    throw new CommandError('validation_error', `the reason is longer than ${maxReasonLength} characters`);
  }
  return cleaned.text;
}

/**
 * Makes sure that the operator means this account: by its username, which is given or typed.
 *
 * @param given with `--yes`
 * @throws {CommandError} `confirmation_required`, `not_confirmed`
 */
async function confirmUsername(
  { isInteractive }: Invocation,
  users: Services['users'],
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
  const name = given ?? (await ask(`Type the username of account ${id} to delete it permanently: `));
  // `findId` takes ids and email addresses, too.
  const isUsername = !/^\d+$/.test(name) && !name.includes('@');
  if (isUsername && (await users.findId(name)) === id) return;
  throw new CommandError(
    'not_confirmed',
    `nothing was deleted: "${name}" is not the username of account ${id}`,
  );
}

/** @returns what was typed; empty after Ctrl-C and Ctrl-D */
async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr, prompt: question });
  terminal.prompt();
  for await (const line of terminal) return line.trim();
  return '';
}
