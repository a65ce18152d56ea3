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
  pairs,
  printPage,
} from './command.ts';
import type { Services } from './services.ts';

const columns = ['id', 'username', 'email', 'name', 'role', 'verified'] as const;
const pageColumns = [...columns, 'suspended', 'last_login_at', 'store'] as const;
const shownColumns = [
  ...columns,
  ...(['created_at', 'last_login_at', 'suspended_at', 'suspended_reason', 'store'] as const),
];

/** An account for people. */
function shown({ is_verified: verified, store, ...user }: AdminUser) {
  const suspended = user.suspended_at !== null;
  return { ...user, verified, suspended, store: store && `${store.id} ${store.name}` };
}

/** What a command does with one account. */
interface UserCommand<Options> extends Help {
  name: string;
  /** @returns the account, or the text, that is printed; undefined where it has printed */
  run(services: Services, id: number, options: Options): Promise<AdminUser | string | undefined>;
}

/** `dure users`. */
export function addUserCommands(program: Command, invocation: Invocation): void {
  const users = addGroup(program, 'users', 'Accounts');

  function addUserCommand<Options extends AuditOptions>(command: UserCommand<Options>): Command {
    const { name, run, details = '', exitCodes: codes = [], ...help } = command;
    return addCommand(users, `${name} <user>`, {
      ...help,
      details: `${details} The user is its id, username or email address.`.trimStart(),
      exitCodes: ['3  there is no such user', ...codes],
      isAudited: true,
    }).action(async (user: string, options: Options) => {
      const { withServices } = await import('./services.ts');
      const { output } = invocation;
      await withServices(invocation, options, async (services) => {
        const id = await services.users.findId(user);
        if (id === undefined)
          throw new CommandError('user_not_found', `there is no user "${user}"`, exitCodes.notFound);
        const result = await run(services, id, options);
        if (typeof result === 'string') output.result({ id }, () => result);
        else if (result !== undefined) output.result(result, () => pairs(shown(result), shownColumns));
      });
    });
  }

  const list = addCommand(users, 'list [text]', {
    summary: 'list accounts, newest first',
    details:
      'With a text, those whose username, email address or name contains it. A search looks at 5,000 accounts at a time; where there are more, it prints the --cursor with which to continue.',
    examples: ['dure users list', 'dure users list dure --limit 100', 'dure users list --json'],
    isAudited: true,
  });
  addPageOptions(list).action(async (q: string | undefined, options: PageOptions) => {
    const { withServices } = await import('./services.ts');
    const page = await withServices(invocation, options, ({ users, operator }) =>
      users.list(operator, { ...options, q }),
    );
    printPage(invocation, page, { rows: page.items.map(shown), columns: pageColumns, empty: 'no users' });
  });

  addUserCommand({
    name: 'show',
    summary: 'show one account',
    details: 'With its store and, where it is suspended, since when and why.',
    examples: ['dure users show minji', 'dure users show minji@example.com --json', 'dure users show 12'],
    run: ({ users, operator }, id) => users.show(operator, id),
  });

  const sessions = addUserCommand<PageOptions>({
    name: 'sessions',
    summary: 'list the live sessions of an account',
    details: 'The logins that still work, newest first, with device and address.',
    examples: ['dure users sessions minji', 'dure users sessions 12 --json'],
    async run({ users, operator }, id, options) {
      const page = await users.listSessions(operator, id, options);
      const columns = ['id', 'created_at', 'last_used_at', 'ip', 'user_agent'] as const;
      printPage(invocation, page, { rows: page.items, columns, empty: 'no sessions' });
      return undefined;
    },
  });
  addPageOptions(sessions);

  addUserCommand<AuditOptions & { reason: string }>({
    name: 'suspend',
    summary: 'suspend an account',
    details:
      'Its sessions end at once, on every instance, it cannot log in, and its store and posts are not found. Nothing is deleted, see `dure users reactivate`. A second suspension changes the reason.',
    examples: ["dure users suspend minji --reason 'sends advertisements'"],
    exitCodes: ['4  the reason is longer than 1,000 characters or has characters that cannot be stored'],
    run: async ({ users, operator }, id, { reason }) =>
      users.suspend(operator, id, await cleanReason(reason)),
  }).requiredOption('--reason <text>', 'why, for other operators; the user does not see it');

  addUserCommand({
    name: 'reactivate',
    summary: 'lift a suspension',
    details: 'Its store and posts are found again; its user logs in again.',
    examples: ['dure users reactivate minji'],
    run: ({ users, operator }, id) => users.reactivate(operator, id),
  });

  addUserCommand<AuditOptions & { revoke?: true }>({
    name: 'make-admin',
    summary: 'let an account administer through the API, or undo that',
    details:
      'The role admin may use the operations below /api/v1/admin/. It holds at the next request of the user.',
    examples: ['dure users make-admin minji', 'dure users make-admin minji --revoke'],
    run: ({ users, operator }, id, { revoke }) => users.setRole(operator, id, revoke ? 'user' : 'admin'),
  }).option('--revoke', 'make it an ordinary account again');

  addUserCommand({
    name: 'end-sessions',
    summary: 'log an account out everywhere',
    details: 'All its sessions end at once, on every instance; its user can log in again.',
    examples: ['dure users end-sessions minji'],
    async run({ users, operator }, id) {
      await users.endSessions(operator, id);
      return `the sessions of user ${id} have ended`;
    },
  });

  addUserCommand({
    name: 'remove-second-factor',
    summary: 'switch off the second factor of an account',
    details:
      'For a user who has lost the authenticator app and the recovery codes: check who asks. Logins then need no code, the recovery codes are void, and the user gets a notice. Sessions stay.',
    examples: ['dure users remove-second-factor minji'],
    async run({ users, operator }, id) {
      await users.removeSecondFactor(operator, id);
      return `the second factor of user ${id} is off`;
    },
  });

  addUserCommand<AuditOptions & { yes?: string; reason?: string }>({
    name: 'delete',
    summary: 'delete an account permanently',
    details:
      'As its user can: its posts disappear, requests to it are withdrawn or end, the other sides get a notification, and its username and email address are free again. Asks for the username at a terminal; elsewhere it needs --yes.',
    examples: [
      'dure users delete minji',
      "dure users delete 12 --yes minji --reason 'asked for it by email'",
    ],
    exitCodes: ['4  what was typed or given with --yes is not the username'],
    async run({ users, operator }, id, { yes, reason }) {
      const cleaned = reason === undefined ? undefined : await cleanReason(reason);
      const name = yes ?? (await askForUsername(invocation, id));
      // `findId` takes ids and email addresses, too.
      if (/^\d+$|@/.test(name) || (await users.findId(name)) !== id) {
        const message = `nothing was deleted: "${name}" is not the username of account ${id}`;
        throw new CommandError('not_confirmed', message);
      }
      await users.deleteAccount(operator, id, cleaned);
      return `user ${id} is deleted`;
    },
  })
    .option('--yes <username>', 'the username, so that nothing is asked')
    .option('--reason <text>', 'why, for the audit entry');
}

/** Cleans the text of `--reason` as the API does. @throws {CommandError} `validation_error` */
async function cleanReason(text: string): Promise<string> {
  const { cleanText } = await import('../http/text.ts');
  const cleaned = cleanText('block', text);
  const reason = 'text' in cleaned ? cleaned.text : '';
  if (reason === '' || [...reason].length > 1_000) {
    const message = 'the reason must have 1 to 1,000 characters that can be stored';
    throw new CommandError('validation_error', message);
  }
  return reason;
}

/** @returns what was typed; empty after Ctrl-C and Ctrl-D. @throws {CommandError} `confirmation_required`, without a terminal */
async function askForUsername({ isInteractive }: Invocation, id: number): Promise<string> {
  if (!isInteractive) {
    const message =
      'nothing was deleted: there is no terminal to ask at, so add --yes with the username of the account';
    throw new CommandError('confirmation_required', message, exitCodes.usage);
  }
  const prompt = `Type the username of account ${id} to delete it permanently: `;
  const terminal = createInterface({ input: process.stdin, output: process.stderr, prompt });
  terminal.prompt();
  for await (const line of terminal) return line.trim();
  return '';
}
