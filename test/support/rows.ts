import type { TestApp } from './app.ts';

/** How many rows there are, such as of `users WHERE id = $1`. */
export async function countRows({ pool }: TestApp, from: string, ...values: unknown[]): Promise<number> {
  return (await pool.query(`SELECT FROM ${from}`, values)).rowCount ?? 0;
}

/** Every row of every table as text, those of the email queue included. */
export async function everyRow({ pool }: TestApp): Promise<string> {
  const tables = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const rows: string[] = [];
  for (const { name } of tables.rows) {
    const found = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
    rows.push(...found.rows.map(({ row }) => `${name} ${row}`));
  }
  return rows.join('\n');
}

/** The tables that have rows of a user, but for the outbox, whose rows are taken at once. */
export async function tablesWith({ pool }: TestApp, userId: number): Promise<string[]> {
  const columns = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'user_id'
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname <> 'outbox'
     ORDER BY name`,
  );
  const places = columns.rows.map(({ name }) => [name, `user_id = ${userId}`] as const);
  const found: string[] = [];
  for (const [name, condition] of [['idempotency_keys', `scope LIKE '${userId}:%'`] as const, ...places]) {
    const { rowCount } = await pool.query(`SELECT FROM ${name} WHERE ${condition}`);
    if (rowCount !== 0) found.push(name);
  }
  return found;
}
