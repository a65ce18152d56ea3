import type { Tx } from './client.ts';
import { reasonOf } from './errors.ts';
import { raw, type Sql, sql } from './sql.ts';

/** Rows of a table that may be deleted. The domain that owns the table says which. */
export interface ExpiredRows {
  /** Not one with partitions, but each of these. */
  table: string;
  condition: Sql;
  /** What is changed of these rows in place of deleting them, so that the condition is false afterwards. */
  update?: Sql;
  /** Whether no index has the condition, so that updates of its columns change no index: the pages of the table are read. */
  isScanned?: true;
}

/** Rows older than an age, such as `30 days`. */
export const expiredAfter = (age: string, table: string, column = 'created_at'): ExpiredRows => ({
  table,
  condition: raw(`${column} < now() - interval '${age}'`),
});

/** A part of the clean-up. It yields after each small step how many rows that deleted, and ends when nothing is left to delete. */
type CleanUpTask = AsyncGenerator<number, void>;

/** Milliseconds of one run, so that the worker is free for emails again; the next run continues. */
const runTime = 20_000;

const rowsPerStep = 1_000;

/** In pages of 8 KiB: what a run reads of a table without an index, and one step of it. */
const pages = { run: 65_536, step: 64 };

/**
 * Deletes or changes what has expired, by turns of the tables, so that none waits for a large one, or for one that fails. Instances
 * may run it at once.
 *
 * @param others what takes more than deleting rows of one table, by the name in the result
 * @returns rows per table, and whether nothing was left when the time was over
 * @throws Error which tables failed, when the others are done
 */
export async function cleanUp(
  database: Tx,
  expired: readonly ExpiredRows[],
  others: Record<string, CleanUpTask> = {},
): Promise<{ deleted: Record<string, number>; isComplete: boolean }> {
  const end = performance.now() + runTime;
  const deleted: Record<string, number> = {};
  const failures: string[] = [];
  const tasks = new Set([
    ...expired.map((rows) => [rows.table, deleteExpired(database, rows)] as const),
    ...Object.entries(others),
  ]);
  while (tasks.size > 0 && performance.now() < end) {
    for (const task of tasks) {
      if (performance.now() >= end) break;
      const [name, steps] = task;
      const { done, value } = await steps.next().catch((error: unknown) => {
        failures.push(`${name}: ${reasonOf(error)}`);
        return { done: true, value: undefined };
      });
      if (done) tasks.delete(task);
      deleted[name] = (deleted[name] ?? 0) + (value ?? 0);
    }
  }
  if (failures.length > 0) throw new Error(`the clean-up failed of ${failures.join(', ')}`);
  return { deleted, isComplete: tasks.size === 0 };
}

async function* deleteExpired(database: Tx, rows: ExpiredRows): CleanUpTask {
  const { table, condition, isScanned } = rows;
  if (isScanned) {
    for await (const some of pagesOfRun(database, table))
      yield await database.execute(deletion(rows, sql`${some} AND ${condition}`));
    return;
  }
  for (let count = rowsPerStep; count === rowsPerStep; yield count) {
    count = await database.execute(deletion(rows, sql`${condition} LIMIT ${raw(String(rowsPerStep))}`));
  }
}

/** Rows that are locked are left to the next run. `ONLY`, because rows of several partitions may have one `ctid`. */
function deletion({ table, update }: ExpiredRows, condition: Sql): Sql {
  const name = raw(table);
  return sql`/* clean-up.${name} */
    ${update ? sql`UPDATE ${name} SET ${update}` : sql`DELETE FROM ${name}`}
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM ONLY ${name} WHERE ${condition} FOR UPDATE SKIP LOCKED))`;
}

/**
 * Conditions by which a run reads a table without an index, some pages at a time: all of it, or of a table of more than 512 MiB a
 * part, in each five minutes the next one.
 */
export async function* pagesOfRun(database: Pick<Tx, 'query'>, table: string): AsyncGenerator<Sql, void> {
  const [size] = await database.query<{ pages: number; period: number }>(sql`/* clean-up.period */
    SELECT pg_relation_size(${table}::regclass) / current_setting('block_size')::int AS pages,
      floor(extract(epoch FROM now()) / 300)::float8 AS period`);
  const { pages: total, period } = size ?? { pages: 0, period: 0 };
  const first = (period % Math.max(1, Math.ceil(total / pages.run))) * pages.run;
  for (let page = first; page < Math.min(total, first + pages.run); page += pages.step)
    yield sql`ctid >= ${`(${page},0)`}::tid AND ctid < ${`(${page + pages.step},0)`}::tid`;
}
