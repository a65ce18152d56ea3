import type { AdminUser } from '../../admin/schemas.ts';
import { cleanText } from '../../http/text.ts';
import { CommandError } from '../command-error.ts';
import type { Invocation } from '../invocation.ts';
import { pairs, table } from '../output.ts';
import { type Services, withServices } from '../services.ts';
import { confirmUsername } from './confirmation.ts';

interface Options {
  operator?: string;
}

interface ListOptions extends Options {
  limit: number;
  cursor?: string;
}

/** `dure users list`. */
export async function listUsers(
  invocation: Invocation,
  q: string | undefined,
  options: ListOptions,
): Promise<void> {
  const page = await withServices(invocation, options, ({ users, operator }) =>
    users.list(operator, { ...pageOf(options), ...(q === undefined ? {} : { q }) }),
  );
  invocation.output.result(page, () =>
    table(
      ['id', 'username', 'email', 'name', 'role', 'verified', 'suspended', 'last_login_at', 'store'],
      page.items.map((user) => [
        user.id,
        user.username,
        user.email,
        user.name,
        user.role,
        user.is_verified ? 'yes' : 'no',
        user.suspended_at === null ? 'no' : 'yes',
        time(user.last_login_at),
        user.store?.name,
      ]),
      'no users',
    ),
  );
  noteNext(invocation, page.next_cursor);
}

/** `dure users show`. */
export async function showUser(invocation: Invocation, reference: string, options: Options): Promise<void> {
  await onUser(invocation, reference, options, ({ users, operator }, id) => users.show(operator, id));
}

/** `dure users suspend`. */
export async function suspendUser(
  invocation: Invocation,
  reference: string,
  options: Options & { reason: string },
): Promise<void> {
  const reason = cleanReason(options.reason);
  await onUser(invocation, reference, options, ({ users, operator }, id) =>
    users.suspend(operator, id, reason),
  );
}

/** `dure users reactivate`. */
export async function reactivateUser(
  invocation: Invocation,
  reference: string,
  options: Options,
): Promise<void> {
  await onUser(invocation, reference, options, ({ users, operator }, id) => users.reactivate(operator, id));
}

/** `dure users make-admin`. */
export async function makeAdmin(
  invocation: Invocation,
  reference: string,
  options: Options & { revoke?: true },
): Promise<void> {
  const role = options.revoke ? 'user' : 'admin';
  await onUser(invocation, reference, options, ({ users, operator }, id) =>
    users.setRole(operator, id, role),
  );
}

/** `dure users sessions`. */
export async function listSessions(
  invocation: Invocation,
  reference: string,
  options: ListOptions,
): Promise<void> {
  const page = await withServices(invocation, options, async ({ users, operator, findUser }) =>
    users.listSessions(operator, await findUser(reference), pageOf(options)),
  );
  invocation.output.result(page, () =>
    table(
      ['id', 'created_at', 'last_used_at', 'ip', 'user_agent'],
      page.items.map((one) => [one.id, time(one.created_at), time(one.last_used_at), one.ip, one.user_agent]),
      'no sessions',
    ),
  );
  noteNext(invocation, page.next_cursor);
}

/** `dure users end-sessions`. */
export async function endSessions(
  invocation: Invocation,
  reference: string,
  options: Options,
): Promise<void> {
  const id = await withServices(invocation, options, async ({ users, operator, findUser }) => {
    const user = await findUser(reference);
    await users.endSessions(operator, user);
    return user;
  });
  invocation.output.result({ id }, () => `the sessions of user ${id} have ended`);
}

/** `dure users delete`. @throws {CommandError} `confirmation_required`, `not_confirmed` */
export async function deleteUser(
  invocation: Invocation,
  reference: string,
  options: Options & { yes?: string; reason?: string },
): Promise<void> {
  const reason = options.reason === undefined ? undefined : cleanReason(options.reason);
  const id = await withServices(invocation, options, async (services) => {
    const user = await services.findUser(reference);
    await confirmUsername(invocation, services, user, options.yes);
    await services.users.deleteAccount(services.operator, user, reason);
    return user;
  });
  invocation.output.result({ id }, () => `user ${id} is deleted`);
}

/** Work on one account, which it then prints. */
async function onUser(
  invocation: Invocation,
  reference: string,
  options: Options,
  work: (services: Services, id: number) => Promise<AdminUser>,
): Promise<void> {
  const user = await withServices(invocation, options, async (services) =>
    work(services, await services.findUser(reference)),
  );
  invocation.output.result(user, () =>
    pairs([
      ['id', user.id],
      ['username', user.username],
      ['email', user.email],
      ['name', user.name],
      ['role', user.role],
      ['verified', user.is_verified ? 'yes' : 'no'],
      ['created_at', time(user.created_at)],
      ['last_login_at', time(user.last_login_at)],
      ['suspended_at', time(user.suspended_at)],
      ['suspended_reason', user.suspended_reason],
      ['store', user.store === null ? null : `${user.store.id} ${user.store.name}`],
    ]),
  );
}

function pageOf({ limit, cursor }: ListOptions) {
  return { limit, ...(cursor === undefined ? {} : { cursor }) };
}

function noteNext({ output }: Invocation, cursor: string | null): void {
  if (cursor !== null) output.note(`there are more: --cursor ${cursor}`);
}

function time(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

/** As in the API. */
const maxReasonLength = 1_000;

/** Cleans the text of `--reason` as the API does. @throws {CommandError} `validation_error` */
function cleanReason(text: string): string {
  const cleaned = cleanText('block', text);
  if ('problem' in cleaned || cleaned.text === '') {
    throw new CommandError('validation_error', 'the reason is empty or has characters that cannot be kept');
  }
  if ([...cleaned.text].length > maxReasonLength) {
    throw new CommandError('validation_error', `the reason is longer than ${maxReasonLength} characters`);
  }
  return cleaned.text;
}
