import { executeLong, type SeedRun } from './progress.ts';

/** An index or a foreign key, which is dropped before rows are added and created after that. */
interface Definition {
  name: string;
  drop: string;
  create: string;
}

const definitionsSql = `
  SELECT conname AS name, format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS create
  FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY ($1::regclass[])
  UNION ALL
  SELECT indexrelid::regclass::text, format('DROP INDEX %s', indexrelid::regclass),
    replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') -- of a partitioned table, with its partitions
  FROM pg_index WHERE NOT indisunique AND indrelid = ANY ($1::regclass[])`;

const indexProgress = `
  SELECT format('%s, %s of %s blocks', phase, blocks_done, blocks_total) AS progress
  FROM pg_stat_progress_create_index WHERE datname = current_database()`;

/**
 * Adds many rows to tables without their foreign keys and without the indexes that are not unique, and creates these afterwards:
 * that takes a fraction of the time. All of it is one transaction, so that an interrupted run leaves the tables as they were.
 * Where the tables have many more rows already, rows are just added.
 *
 * @param load `rows`: how many rows are about to be added
 */
export async function bulkLoad<Result>(
  run: SeedRun,
  { tables, rows }: { tables: string[]; rows: number },
  work: () => Promise<Result>,
): Promise<Result> {
  const { client } = run;
  const { rows: present } = await client.query<{ rows: number }>(
    'SELECT sum(reltuples)::float8 AS rows FROM pg_class WHERE oid = ANY ($1::regclass[])',
    [tables],
  );
  const isWorthwhile = rows * 4 > (present[0]?.rows ?? 0);
  await client.query('BEGIN');
  // A table cannot be altered while it has deferred checks.
  await client.query('SET CONSTRAINTS ALL IMMEDIATE');
  const { rows: definitions } = isWorthwhile
    ? await client.query<Definition>(definitionsSql, [tables])
    : { rows: [] };
  for (const { drop } of definitions) await client.query(drop);
  const result = await work();
  // Shared by the workers of one index; what does not fit is sorted on disk.
  await client.query(`SET LOCAL maintenance_work_mem = '256MB'`);
  // Indexes first, which a foreign key may need.
  for (const { name, create } of definitions.reverse())
    await executeLong(run, { label: name, statement: create, progress: indexProgress });
  await client.query('COMMIT');
  return result;
}
