import process from 'node:process';
import { cleanUp, type ExpiredRows } from '../src/infrastructure/database/clean-up.ts';
import { openDatabase } from '../src/infrastructure/database/client.ts';
import { sql } from '../src/infrastructure/database/sql.ts';
import { execute } from '../test/support/database.ts';
import { cpuTimeWithChildren } from './processes.ts';
import { startDatabase } from './servers.ts';

/*
 * npm run bench -- clean-up
 *
 * How many expired rows a second the clean-up deletes, where an index finds them and where the table is read.
 */

const count = 500_000;

/** Half of the rows of each table have expired, in every page. */
const tables: [rows: ExpiredRows, found: string, statement: string][] = [
  [
    { table: 'email_proofs', condition: sql`expires_at < now()` },
    'by an index',
    `INSERT INTO email_proofs (id, email, key_id, expires_at)
     SELECT gen_random_uuid(), 'n' || n || '@example.com', 'a-key', now() + (n % 2 - 0.5) * interval '2 days'
     FROM generate_series(1, 2 * ${count}) n`,
  ],
  [
    { table: 'sessions', condition: sql`expires_at < now()`, isScanned: true },
    'by reading the table',
    `INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
     SELECT gen_random_uuid(), (SELECT min(id) FROM users) + n % 1000, '{}', repeat('a', 120), '192.0.2.1',
       now() + (n % 2 - 0.5) * interval '2 days'
     FROM generate_series(1, 2 * ${count}) n`,
  ],
];

const { url, postmaster, stop } = await startDatabase();
try {
  const database = openDatabase({ url, poolSize: 1 });
  process.stdout.write(
    '| table | expired rows are found | rows/s | CPU us of PostgreSQL per row |\n|---|---|---|---|\n',
  );
  for (const [rows, found, statement] of tables) {
    await execute(url, statement, `VACUUM ANALYZE ${rows.table}`, 'CHECKPOINT');
    const cpu = await cpuTimeWithChildren(postmaster);
    const start = performance.now();
    let deleted = 0;
    for (let isComplete = false; !isComplete; ) {
      const run = await cleanUp(database, [rows]);
      deleted += run.deleted[rows.table] ?? 0;
      isComplete = run.isComplete;
    }
    const perSecond = deleted / ((performance.now() - start) / 1000);
    const perRow = ((await cpuTimeWithChildren(postmaster)) - cpu) / deleted;
    process.stdout.write(
      `| ${rows.table}, ${deleted} of twice as many | ${found} | ${perSecond.toFixed(0)} | ${perRow.toFixed(1)} |\n`,
    );
  }
  await database.close();
} finally {
  await stop();
}
