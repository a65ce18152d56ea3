import type { Command } from 'commander';
import {
  type AuditOptions,
  addCommand,
  addGroup,
  addPageOptions,
  CommandError,
  exitCodes,
  type Invocation,
  type PageOptions,
  printPage,
  wholeNumber,
} from './command.ts';
import type { Services } from './services.ts';

/** `dure mails`. */
export function addMailCommands(program: Command, invocation: Invocation): void {
  const mails = addGroup(program, 'mails', 'Emails that failed permanently');
  const notFound = '3  there is no such failed email; those that exist were still dealt with';

  const failed = addCommand(mails, 'failed', {
    summary: 'list the emails that failed permanently',
    details:
      'They are listed newest first, with the reason, and kept for 90 days. Emails that are still retried are jobs: see `dure jobs list --failed`.',
    examples: ['dure mails failed', 'dure mails failed --limit 100 --json'],
    isAudited: true,
  });
  addPageOptions(failed).action(async (options: PageOptions) => {
    const { withServices } = await import('./services.ts');
    const page = await withServices(invocation, options, ({ failedMails, operator }) =>
      failedMails.list(operator, options),
    );
    const columns = ['id', 'kind', 'user_id', 'attempts', 'created_at', 'reason'] as const;
    printPage(invocation, page, { rows: page.items, columns, empty: 'no failed emails' });
  });

  const parseId = wholeNumber(1, Number.MAX_SAFE_INTEGER);
  const parseIds = (text: string, ids: number[] = []) => [...new Set([...ids, parseId(text)])];
  const idsHelp = 'their ids, see `dure mails failed`';

  addCommand(mails, 'retry', {
    summary: 'put failed emails back into the queue',
    details:
      'An email is composed when it is sent, so one that has become obsolete is dropped then. Remove the reason first: what the provider rejected once it will reject again.',
    examples: ['dure mails retry 17 18', 'dure mails retry --all'],
    exitCodes: [notFound],
    isAudited: true,
  })
    .argument('[ids...]', idsHelp, parseIds)
    .option('--all', 'all that have failed; succeeds when there are none')
    .action((ids: number[], options: AuditOptions & { all?: true }) =>
      changeMails(invocation, 'retry', { ...options, ids }),
    );

  addCommand(mails, 'drop', {
    summary: 'delete failed emails that are not worth another attempt',
    examples: ['dure mails drop 17 18'],
    exitCodes: [notFound],
    isAudited: true,
  })
    .argument('<ids...>', idsHelp, parseIds)
    .action((ids: number[], options: AuditOptions) => changeMails(invocation, 'drop', { ...options, ids }));
}

/** Retries or drops emails, each in its transaction. @throws {CommandError} `usage`; `mail_not_found`, after the others were dealt with */
async function changeMails(
  invocation: Invocation,
  action: 'retry' | 'drop',
  { ids, all = false, operator }: AuditOptions & { ids: readonly number[]; all?: boolean },
): Promise<void> {
  if (ids.length > 0 === all) {
    throw new CommandError('usage', 'which emails? Give their ids, or --all', exitCodes.usage);
  }
  const { ApiError } = await import('../http/errors.ts');
  const { withServices } = await import('./services.ts');
  const done: number[] = [];
  const missing: number[] = [];
  await withServices(invocation, { operator }, async (services) => {
    for (const id of all ? await allFailed(services) : ids) {
      try {
        await services.failedMails[action](services.operator, id);
        done.push(id);
      } catch (error) {
        if (!(error instanceof ApiError) || error.definition.status !== 404) throw error;
        // With --all, another run may have taken it.
        if (!all) missing.push(id);
      }
    }
  });
  const [field, text] = action === 'retry' ? ['retried', 'in the queue again'] : ['dropped', 'deleted'];
  invocation.output.result(
    { [field]: done, not_found: missing },
    () => `emails that are ${text}: ${done.length}`,
  );
  if (missing.length === 0) return;
  const message = `there is no failed email ${missing.join(', ')}`;
  throw new CommandError('mail_not_found', message, exitCodes.notFound);
}

/** The ids of all failed emails, oldest first, so that they are sent in this order. */
async function allFailed({ failedMails, operator }: Services): Promise<number[]> {
  const ids: number[] = [];
  let page = await failedMails.list(operator, { limit: 100 });
  for (;;) {
    ids.push(...page.items.map(({ id }) => id));
    if (page.next_cursor === null) return ids.reverse();
    page = await failedMails.list(operator, { limit: 100, cursor: page.next_cursor });
  }
}
