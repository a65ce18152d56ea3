import type { TestApp } from './app.ts';

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

/** The tables that have rows of a user. */
export async function tablesWith({ pool }: TestApp, userId: number): Promise<string[]> {
  const columns = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'user_id' ORDER BY name`,
  );
  const places = columns.rows.map(({ name }) => [name, `user_id = ${userId}`] as const);
  const found: string[] = [];
  for (const [name, condition] of [['idempotency_keys', `scope LIKE '${userId}:%'`] as const, ...places]) {
    const { rowCount } = await pool.query(`SELECT FROM ${name} WHERE ${condition}`);
    if (rowCount !== 0) found.push(name);
  }
  return found;
}
