import type { Tx } from './client.ts';
import { raw, sql } from './sql.ts';

/** As PostgreSQL calls them, strongest first. `NO KEY UPDATE` lets rows that refer to the row be added meanwhile. */
type Strength = 'UPDATE' | 'NO KEY UPDATE' | 'KEY SHARE';

/** Locks a row until the transaction ends, which Prisma's client cannot. @returns whether there is such a row */
export async function lockRow(
  tx: Tx,
  table: 'users' | 'stores' | 'sessions',
  id: number | string,
  strength: Strength,
): Promise<boolean> {
  return (await tx.execute(sql`SELECT FROM ${raw(table)} WHERE id = ${id} FOR ${raw(strength)}`)) > 0;
}
