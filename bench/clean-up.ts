import { cleanUp, type ExpiredRows } from '../src/infrastructure/database/clean-up.ts';
import { openDatabase } from '../src/infrastructure/database/client.ts';
import { sql } from '../src/infrastructure/database/sql.ts';
import { execute } from '../test/support/database.ts';
import { readOptions, sayHead, sayRow } from './command-line.ts';
import { withDatabase } from './environment.ts';
import { costOf } from './processes.ts';

/** Half of the rows of each table have expired, in every page. @param n numbers of the rows */
const tables: [rows: ExpiredRows, found: string, insert: (n: string) => string][] = [
  [
    { table: 'email_proofs', condition: sql`expires_at < now()` },
    'by an index',
    (n) => `INSERT INTO email_proofs (id, email, key_id, expires_at)
      SELECT gen_random_uuid(), 'n' || n || '@example.com', 'a-key', now() + (n % 2 - 0.5) * interval '2 days' FROM ${n}`,
  ],
  [
    { table: 'sessions', condition: sql`expires_at < now()`, isScanned: true },
    'by reading the table',
    (n) => `INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
      SELECT gen_random_uuid(), (SELECT min(id) FROM users) + n % 1000, '{}', repeat('a', 120), '192.0.2.1',
        now() + (n % 2 - 0.5) * interval '2 days' FROM ${n}`,
  ],
];

/**
 * npm run bench -- clean-up [--rows 500000]
 *
 * How many expired rows a second the clean-up deletes, where an index finds them and where the table is read.
 */
export async function measureCleanUp(args: string[]): Promise<void> {
  const count = Number(readOptions(args, { rows: '500000' }).rows);
  await withDatabase(async ({ url, postmaster }) => {
    const database = openDatabase({ url, poolSize: 1 });
    sayHead(['table', 'expired rows are found', 'rows/s', 'CPU us of PostgreSQL per row']);
    for (const [rows, found, insert] of tables) {
      const { table } = rows;
      const numbers = `generate_series(1, 2 * ${count}) n`;
      await execute(url, insert(numbers), `VACUUM ANALYZE ${table}`, 'CHECKPOINT');
      const { result, elapsed, postgres } = await costOf({ servers: [], postmaster }, async () => {
        for (let deleted = 0; ; ) {
          const run = await cleanUp(database, [rows]);
          deleted += run.deleted[table] ?? 0;
          if (run.isComplete) return deleted;
        }
      });
      const [perSecond, perRow] = [result / elapsed, (postgres / result) * 1e6];
      sayRow([`${table}, ${result} of ${2 * count}`, found, perSecond.toFixed(0), perRow.toFixed(1)]);
    }
    await database.close();
  });
}
