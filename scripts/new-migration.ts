import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate } from '../src/database/migrations.ts';
import { startEmbeddedServer } from '../src/embedded-postgres/server.ts';
import { createSchemaEngine } from './schema-engine.ts';

/*
 * npm run migration:new <name>
 *
 * Writes the SQL that takes the committed migrations to prisma/schema.prisma. It looks at tables, columns, enums,
 * foreign keys and indexes on plain columns, so whatever of these a migration has by hand and schema.prisma has not
 * would be dropped by the next one:
 *
 * - invisible to it, write freely by hand: check and exclusion constraints, partial indexes, indexes on expressions
 *   (GIN on to_tsvector(...) too), functions, triggers, views, sequences, domains, extensions, extended statistics,
 *   row security, collations, storage parameters, comments;
 * - proposed to be dropped, say it in schema.prisma instead: any index without a condition on plain columns, also GIN
 *   (`@@index([name(ops: raw("gin_trgm_ops"))], type: Gin)`), hash and BRIN; defaults; foreign keys; tables; enums;
 * - proposed to be dropped and not sayable in schema.prisma, avoid: generated columns, deferrable unique constraints,
 *   indexes with INCLUDE, NULLS LAST or NULLS NOT DISTINCT (a condition such as `WHERE true` hides an index).
 *
 * A migration runs in a transaction: no BEGIN or COMMIT in it, no CREATE INDEX CONCURRENTLY. For a large table create
 * the index by hand before the release, and write CREATE INDEX IF NOT EXISTS in the migration.
 */

const PRISMA_FOLDER = fileURLToPath(import.meta.resolve('#package/prisma'));

/**
 * @param connectionString a database that has the migrations
 * @returns SQL that takes it to prisma/schema.prisma; empty when it is there
 */
export async function differenceSql(connectionString: string): Promise<string> {
  const path = join(PRISMA_FOLDER, 'schema.prisma');
  const files = [{ path, content: await readFile(path, 'utf8') }];
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const engine = await createSchemaEngine(client);
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: PRISMA_FOLDER },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return exitCode === 0 ? '' : (stdout ?? '');
  } finally {
    await client.end();
  }
}

async function differenceFromMigrations(serverUrl: string): Promise<string> {
  const name = `dure_migration_${randomBytes(6).toString('hex')}`;
  const url = new URL(serverUrl);
  url.pathname = name;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
    await migrate(url.href);
    return await differenceSql(url.href);
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.end();
  }
}

async function withServer<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const given = process.env.DATABASE_URL;
  if (given) return work(given);
  const directory = await mkdtemp(join(tmpdir(), 'dure-migration-'));
  const server = await startEmbeddedServer({ directory });
  try {
    return await work(server.url);
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function run(name: string | undefined): Promise<string> {
  if (name === undefined || !/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new Error('usage: npm run migration:new <name>, in lower case with underscores');
  }
  const sql = await withServer(differenceFromMigrations);
  if (sql === '') return 'Nothing to do: the migrations already lead to prisma/schema.prisma.';
  const folder = join(PRISMA_FOLDER, 'migrations', `${await nextStamp()}_${name}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'migration.sql'), sql);
  return `Wrote ${join(folder, 'migration.sql')}. Read it before you commit it.`;
}

/** The time in UTC, but always after the latest migration, however this machine's clock is set. */
async function nextStamp(): Promise<string> {
  const now = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const names = await readdir(join(PRISMA_FOLDER, 'migrations'));
  const latest = Math.max(...names.map((name) => Number.parseInt(name, 10) || 0));
  return Number(now) > latest ? now : String(latest + 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.stdout.write(`${await run(process.argv[2])}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
