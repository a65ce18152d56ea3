import type { Command } from 'commander';
import { group, leaf } from './command.ts';
import type { Invocation } from './invocation.ts';

/** `dure migrate`. */
export function addMigrateCommands(program: Command, invocation: Invocation): void {
  const migrate = group(program, 'migrate', 'The schema of the database');

  leaf(migrate, 'status', {
    summary: 'say which migrations the database has',
    description:
      'Lists the migrations of this release and those of the database, oldest first. Changes nothing. Needs DATABASE_URL or DATABASE_DIRECT_URL only.\nStates: applied, pending (`dure migrate up` applies it), newer (of a newer release), edited and unfinished (`up` refuses).',
    examples: ['dure migrate status', 'dure migrate status --pending', 'dure migrate status --json'],
    exitCodes: ['4  the database is not up to date'],
  })
    .option('--pending', 'only those that are not applied as they should be')
    .action(async (options: { pending?: true }) => {
      const { showStatus } = await import('./migrate/actions.ts');
      await showStatus(invocation, options);
    });

  leaf(migrate, 'up', {
    summary: 'apply the pending migrations',
    description:
      'Applies the pending migrations, oldest first, each in a transaction of its own, and prints how long each took. Needs DATABASE_URL or DATABASE_DIRECT_URL only: a direct connection or a session pooler, no transaction pooler. Runs at the same time wait for each other. What failed leaves nothing behind and is tried again by the next run.',
    examples: ['dure migrate up', 'dure migrate up --json'],
  }).action(async () => {
    const { migrateUp } = await import('./migrate/actions.ts');
    await migrateUp(invocation);
  });
}
