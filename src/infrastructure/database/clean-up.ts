import type { Tx } from './client.ts';
import { raw, type Sql, sql } from './sql.ts';

/** Rows of a table that may be deleted. The domain that owns the table says which; its condition needs an index. */
export interface ExpiredRows {
  table: string;
  condition: Sql;
  /** What is changed of these rows in place of deleting them, so that the condition is false afterwards. */
  erase?: Sql;
}

const batchSize = 1_000;
/** The next run continues where this one stops. */
const maxBatches = 100;

/**
 * Deletes or erases expired rows in small batches, so that no lock is kept for long. Rows that are locked are left to the next run.
 *
 * @returns rows per table
 */
export async function cleanUp(
  database: Tx,
  expired: readonly ExpiredRows[],
): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {};
  for (const { table, condition, erase } of expired) {
    const change = erase ? sql`UPDATE ${raw(table)} SET ${erase}` : sql`DELETE FROM ${raw(table)}`;
    const statement = sql`
      ${change} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${raw(table)} WHERE ${condition} LIMIT ${raw(String(batchSize))} FOR UPDATE SKIP LOCKED
      ))`;
    let total = 0;
    for (let batch = 0, count = batchSize; batch < maxBatches && count === batchSize; batch++) {
      count = await database.execute(statement);
      total += count;
    }
    deleted[table] = total;
  }
  return deleted;
}
