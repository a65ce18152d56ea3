import type { Command } from 'commander';
import type { AppliedMigration } from '../infrastructure/database/migrations.ts';
import { addCommand, addGroup, CommandError, type Invocation, table } from './command.ts';

/** `dure migrate`. */
export function addMigrateCommands(program: Command, invocation: Invocation): void {
  const group = addGroup(program, 'migrate', 'The schema of the database');

  addCommand(group, 'status', {
    summary: 'list which migrations the database has',
    details:
      'Those of this release and those of the database, oldest first. Changes nothing. Needs DATABASE_URL or DATABASE_DIRECT_URL only.\nStates: applied, pending (`dure migrate up` applies it), newer (of a newer release), edited and unfinished (`up` rejects both).',
    examples: ['dure migrate status', 'dure migrate status --pending', 'dure migrate status --json'],
    exitCodes: ['4  the database is not up to date'],
  })
    .option('--pending', 'only those that are not applied as they should be')
    .action((options: { pending?: true }) => showStatus(invocation, options));

  addCommand(group, 'up', {
    summary: 'apply the pending migrations',
    details:
      'Oldest first, each in a transaction of its own; prints how long each took. Needs DATABASE_URL or DATABASE_DIRECT_URL only: a direct connection or a session pooler, no transaction pooler. Concurrent runs wait for each other. A migration that failed leaves nothing behind, and the next run applies it again.',
    examples: ['dure migrate up', 'dure migrate up --json'],
  }).action(async () => {
    const { migrate } = await import('../infrastructure/database/migrations.ts');
    const { withLocation } = await import('./connection.ts');
    const { environment, output } = invocation;
    const applied: AppliedMigration[] = [];
    const onApplied = (migration: AppliedMigration) => {
      applied.push(migration);
      output.note(`applied ${migration.name} in ${migration.milliseconds} ms`);
    };
    await withLocation(environment, ({ directUrl }) => migrate(directUrl, { onApplied }), { create: true });
    const text = applied.length === 0 ? 'nothing to apply' : `${applied.length} migrations applied`;
    output.result({ applied }, () => text);
  });
}

/** @throws {CommandError} `not_up_to_date`, after the list */
async function showStatus(
  { environment, output }: Invocation,
  { pending }: { pending?: true },
): Promise<void> {
  const { migrationStatus } = await import('../infrastructure/database/migrations.ts');
  const { withSession, withLocation } = await import('./connection.ts');
  const all = await withLocation(environment, (location) => withSession(location, migrationStatus));
  const due = all.filter(({ state }) => state !== 'applied' && state !== 'newer');
  const shown = pending ? due : all;
  const items = shown.map(({ name, state, appliedAt }) => ({ name, state, applied_at: appliedAt }));
  output.result({ is_up_to_date: due.length === 0, items }, () =>
    table(items, ['name', 'state', 'applied_at'], 'up to date'),
  );
  const [first] = due;
  if (first === undefined) return;
  const message =
    first.state === 'pending'
      ? `${due.length} of ${all.length} migrations are not applied: run \`dure migrate up\``
      : `${first.name} is ${first.state}: \`dure migrate up\` says what to do`;
  throw new CommandError('not_up_to_date', message);
}
