import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import t, { type Test } from 'tap';
import { differenceSql } from '../../../scripts/new-migration.ts';
import { withSchemaEngine } from '../../../scripts/schema-engine.ts';
import { migrate } from '../../../src/infrastructure/database/migrations.ts';
import { createEmptyDatabase, createTestDatabase, execute } from '../../support/database.ts';

const committed = fileURLToPath(import.meta.resolve('#package/prisma/migrations'));
const filters = { externalTables: [], externalEnums: [] };

async function createUrl(t: Test, create = createTestDatabase): Promise<string> {
  const { url, drop } = await create();
  t.teardown(drop);
  return url;
}

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

function diagnose(url: string, migrationsList: MigrationList) {
  return withSchemaEngine(url, (engine) =>
    engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters }),
  );
}

/** The table's definition and its rows, without what differs by chance: the ids and the times. */
async function readHistory(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const columns = await client.query(`SELECT attname, format_type(atttypid, atttypmod), attnotnull,
        (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)
      FROM pg_attribute WHERE attrelid = '_prisma_migrations'::regclass AND attnum > 0 ORDER BY attnum`);
    const constraints = await client.query(`SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE conrelid = '_prisma_migrations'::regclass ORDER BY 1`);
    const rows =
      await client.query(`SELECT migration_name, checksum, logs, rolled_back_at, applied_steps_count,
        id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AS uuid, finished_at >= started_at AS finished
      FROM _prisma_migrations ORDER BY 1`);
    return { columns: columns.rows, constraints: constraints.rows, rows: rows.rows };
  } finally {
    await client.end();
  }
}

t.test("Prisma's engine sees no pending, edited or failed migration", async (t) => {
  const migrations = await readMigrations(committed);
  const url = await createUrl(t);
  const upToDate = {
    editedMigrationNames: [],
    failedMigrationNames: [],
    hasMigrationsTable: true,
    history: null,
  };
  t.strictSame(await diagnose(url, migrations), upToDate);
  const applied = await withSchemaEngine(url, (engine) =>
    engine.applyMigrations({ migrationsList: migrations, filters }),
  );
  t.strictSame(applied.appliedMigrationNames, []);

  // The same call reports what is wrong when something is.
  await execute(url, "UPDATE _prisma_migrations SET checksum = repeat('0', 64)");
  const edited = migrations.migrationDirectories.map(({ path }) => path);
  t.strictSame((await diagnose(url, migrations)).editedMigrationNames, edited);
  await execute(url, 'DELETE FROM _prisma_migrations');
  t.match((await diagnose(url, migrations)).history, { unappliedMigrationNames: edited });
});

t.test("the history table equals the one that Prisma's engine writes", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'dure-migrations-'));
  t.teardown(() => rm(folder, { recursive: true }));
  for (const name of ['20260101000000_first', '20260102000000_second']) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'migration.sql'), `-- 가게\nCREATE TABLE "${name}" (id int);\n`);
  }
  const [byRunner, byPrisma] = [
    await createUrl(t, createEmptyDatabase),
    await createUrl(t, createEmptyDatabase),
  ];
  await migrate(byRunner, { folder });
  const migrationsList = await readMigrations(folder);
  await withSchemaEngine(byPrisma, (engine) => engine.applyMigrations({ migrationsList, filters }));
  t.strictSame(await readHistory(byRunner), await readHistory(byPrisma));

  t.strictSame(await migrate(byPrisma, { folder }), [], 'the runner accepts the rows of Prisma');
});

t.test('the migrations match schema.prisma', async (t) => {
  t.equal(await differenceSql(await createUrl(t)), '');
});

t.test(
  'the next migration drops a plain index that schema.prisma lacks, and keeps what it cannot express',
  async (t) => {
    const url = await createUrl(t);
    await execute(
      url,
      "ALTER TABLE users ADD CONSTRAINT test_check CHECK (name <> '')",
      'CREATE INDEX test_partial ON users (name) WHERE is_verified',
      "CREATE INDEX test_expression ON users USING gin (to_tsvector('simple', name))",
      'CREATE FUNCTION test_function() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
      'CREATE TRIGGER test_trigger BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION test_function()',
    );
    t.equal(await differenceSql(url), '');
    await execute(url, 'CREATE INDEX test_plain ON users (name)');
    t.match(await differenceSql(url), 'DROP INDEX "test_plain"');
  },
);
