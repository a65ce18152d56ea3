import type pg from 'pg';
import { readMigrations, readRecorded } from './migrations.ts';

/**
 * - `applied`: the database has it.
 * - `pending`: `migrate` will apply it.
 * - `edited`: its SQL is another one than that which was applied; `migrate` refuses.
 * - `unfinished`: it failed halfway outside a transaction; `migrate` refuses.
 * - `newer`: only the database knows it, from a newer release.
 */
type MigrationState = 'applied' | 'pending' | 'edited' | 'unfinished' | 'newer';

/** A migration, and what the database has of it. */
interface MigrationStatus {
  name: string;
  state: MigrationState;
  appliedAt: Date | null;
}

/** Compares the migrations of this release with those of the database, oldest first. Changes nothing. */
export async function migrationStatus(database: pg.Pool | pg.Client): Promise<MigrationStatus[]> {
  const [migrations, recorded] = await Promise.all([readMigrations(), readRecorded(database)]);
  const own = migrations.map(({ name, checksum }): MigrationStatus => {
    const row = recorded.find((one) => one.name === name);
    if (row === undefined) return { name, state: 'pending', appliedAt: null };
    const state = row.checksum === checksum ? 'applied' : 'edited';
    return { name, state: row.finished ? state : 'unfinished', appliedAt: row.finished_at };
  });
  const others = recorded
    .filter(({ name }) => !migrations.some((migration) => migration.name === name))
    .map(({ name, finished, finished_at: appliedAt }): MigrationStatus => {
      return { name, state: finished ? 'newer' : 'unfinished', appliedAt };
    });
  return [...own, ...others].sort((one, other) => (one.name < other.name ? -1 : 1));
}
