import { ApiError } from '../../http/errors.ts';
import { isId } from '../../http/path-ids.ts';
import { CommandError, exitCodes } from '../command-error.ts';
import type { Invocation } from '../invocation.ts';
import { table } from '../output.ts';
import { type Services, withServices } from '../services.ts';

interface Options {
  operator?: string;
}

/** `dure mails failed`. */
export async function listFailedMails(
  invocation: Invocation,
  options: Options & { limit: number; cursor?: string },
): Promise<void> {
  const { limit, cursor } = options;
  const page = await withServices(invocation, options, ({ failedMails, operator }) =>
    failedMails.list(operator, { limit, ...(cursor === undefined ? {} : { cursor }) }),
  );
  invocation.output.result(page, () =>
    table(
      ['id', 'kind', 'user_id', 'attempts', 'created_at', 'reason'],
      page.items.map((mail) => {
        return [mail.id, mail.kind, mail.user_id, mail.attempts, new Date(mail.created_at), mail.reason];
      }),
      'no failed mails',
    ),
  );
  if (page.next_cursor !== null) invocation.output.note(`there are more: --cursor ${page.next_cursor}`);
}

/** `dure mails retry`. @throws {CommandError} `usage`, `mail_not_found` after the others were retried */
export async function retryMails(
  invocation: Invocation,
  ids: readonly string[],
  options: Options & { all?: true },
): Promise<void> {
  if (ids.length > 0 === (options.all === true)) {
    throw new CommandError('usage', 'which mails? Give their ids, or --all', exitCodes.usage);
  }
  const given = toIds(ids);
  const { done, missing } = await withServices(invocation, options, async (services) => {
    const { failedMails, operator } = services;
    const found = options.all ? await allFailed(services) : given;
    return forEach(found, (id) => failedMails.retry(operator, id));
  });
  invocation.output.result({ retried: done, not_found: options.all ? [] : missing }, () =>
    done.length === 0 ? 'no mails to retry' : `${done.length} ${done.length === 1 ? 'mail is' : 'mails are'} in the queue again`,
  );
  if (!options.all) failMissing(missing);
}

/** `dure mails drop`. @throws {CommandError} `usage`, `mail_not_found` after the others were dropped */
export async function dropMails(
  invocation: Invocation,
  ids: readonly string[],
  options: Options,
): Promise<void> {
  const given = toIds(ids);
  const { done, missing } = await withServices(invocation, options, ({ failedMails, operator }) =>
    forEach(given, (id) => failedMails.drop(operator, id)),
  );
  invocation.output.result({ dropped: done, not_found: missing }, () => `${done.length} mails are deleted`);
  failMissing(missing);
}

/** Each in a transaction of its own; one that is gone does not stop the others. */
async function forEach(ids: readonly number[], work: (id: number) => Promise<void>) {
  const done: number[] = [];
  const missing: number[] = [];
  for (const id of ids) {
    try {
      await work(id);
      done.push(id);
    } catch (error) {
      if (!(error instanceof ApiError) || error.definition.status !== 404) throw error;
      missing.push(id);
    }
  }
  return { done, missing };
}

/** The ids of all failed mails, oldest first, so that they are sent in this order. */
async function allFailed({ failedMails, operator }: Services): Promise<number[]> {
  const ids: number[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await failedMails.list(operator, {
      limit: 100,
      ...(cursor === undefined ? {} : { cursor }),
    });
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  return ids.reverse();
}

function toIds(texts: readonly string[]): number[] {
  const wrong = texts.find((text) => !isId(text));
  if (wrong === undefined) return [...new Set(texts.map(Number))];
  throw new CommandError('usage', `"${wrong}" is no id: see \`dure mails failed\``, exitCodes.usage);
}

function failMissing(ids: readonly number[]): void {
  if (ids.length === 0) return;
  throw new CommandError('mail_not_found', `there is no failed mail ${ids.join(', ')}`, exitCodes.notFound);
}
