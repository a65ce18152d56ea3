import { migrationStatus } from '../../database/migration-status.ts';
import { type AppliedMigration, migrate } from '../../database/migrations.ts';
import { CommandError } from '../command-error.ts';
import { withClient, withLocation } from '../connection.ts';
import type { Invocation } from '../invocation.ts';
import { table } from '../output.ts';

/** `dure migrate status`. @throws {CommandError} `not_up_to_date`, after the list */
export async function showStatus(
  { environment, output }: Invocation,
  { pending }: { pending?: true },
): Promise<void> {
  const all = await withLocation(environment, (location) => withClient(location, migrationStatus));
  const due = all.filter(({ state }) => state !== 'applied' && state !== 'newer');
  const shown = pending ? due : all;
  output.result(
    {
      is_up_to_date: due.length === 0,
      items: shown.map(({ name, state, appliedAt }) => ({ name, state, applied_at: appliedAt })),
    },
    () =>
      table(
        ['name', 'state', 'applied_at'],
        shown.map(({ name, state, appliedAt }) => [name, state, appliedAt]),
        'up to date',
      ),
  );
  const [first] = due;
  if (first === undefined) return;
  const message =
    first.state === 'pending'
      ? `${due.length} of ${all.length} migrations are not applied: run \`dure migrate up\``
      : `${first.name} is ${first.state}: \`dure migrate up\` says what to do`;
  throw new CommandError('not_up_to_date', message);
}

/** `dure migrate up`. */
export async function migrateUp({ environment, output }: Invocation): Promise<void> {
  const applied: AppliedMigration[] = [];
  const onApplied = (migration: AppliedMigration) => {
    applied.push(migration);
    output.note(`applied ${migration.name} in ${migration.milliseconds} ms`);
  };
  await withLocation(environment, ({ directUrl }) => migrate(directUrl, { onApplied }), { create: true });
  output.result({ applied }, () =>
    applied.length === 0 ? 'nothing to apply' : `${applied.length} migrations applied`,
  );
}
