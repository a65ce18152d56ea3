import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg';
import type pg from 'pg';
import t from 'tap';
import { withSchemaEngine } from '../../../scripts/schema-engine.ts';
import { migrate } from '../../../src/infrastructure/database/migrations.ts';
import { connect, writeMigrations } from '../../database/migration-folders.ts';

const filters = { externalTables: [], externalEnums: [] };

async function readMigrations(folder: string): Promise<MigrationList> {
  const names = (await readdir(folder)).filter((name) => name !== 'migration_lock.toml').sort();
  const directories = names.map(async (path) => {
    const value = await readFile(join(folder, path, 'migration.sql'), 'utf8');
    return { path, migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value } } };
  });
  return {
    baseDir: folder,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(directories),
  };
}

/** The table's definition and its rows, without what differs by chance: the ids and the times. */
async function readHistory(client: pg.Client) {
  const columns = await client.query(`SELECT attname, format_type(atttypid, atttypmod), attnotnull,
      (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)
    FROM pg_attribute WHERE attrelid = '_prisma_migrations'::regclass AND attnum > 0 ORDER BY attnum`);
  const constraints = await client.query(`SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = '_prisma_migrations'::regclass ORDER BY 1`);
  const rows = await client.query(`SELECT migration_name, checksum, logs, rolled_back_at, applied_steps_count,
      id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AS uuid, finished_at >= started_at AS finished
    FROM _prisma_migrations ORDER BY 1`);
  return { columns: columns.rows, constraints: constraints.rows, rows: rows.rows };
}

t.test("the history table equals the one that Prisma's engine writes", async (t) => {
  const names = ['20260101000000_first', '20260102000000_second'];
  const scripts = names.map((name) => [name, `-- 가게\nCREATE TABLE "${name}" (id int);\n`]);
  const { folder } = await writeMigrations(t, Object.fromEntries(scripts));
  const [byRunner, byPrisma] = [await connect(t), await connect(t)];
  await migrate(byRunner.url, { folder });
  const migrationsList = await readMigrations(folder);
  await withSchemaEngine(byPrisma.url, (engine) => engine.applyMigrations({ migrationsList, filters }));
  t.strictSame(await readHistory(byRunner.client), await readHistory(byPrisma.client));

  t.strictSame(await migrate(byPrisma.url, { folder }), [], 'the runner accepts the rows of Prisma');
});
