import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedServer } from '../src/development/embedded-postgres/server.ts';
import { migrate } from '../src/infrastructure/database/migrations.ts';
import { withSchemaEngine } from './schema-engine.ts';

/*
 * npm run migration:new <name>
 *
 * Writes the SQL that takes the existing migrations to prisma/schema.prisma. Prisma compares tables, columns, enums,
 * foreign keys and indexes on plain columns. The next migration drops those that are only in a migration's SQL:
 *
 * - ignored, safe to write by hand: check and exclusion constraints, partial indexes, indexes on expressions (also
 *   GIN on to_tsvector(...)), functions, triggers, views, sequences, domains, extensions, extended statistics, row
 *   security, collations, storage parameters, comments;
 * - dropped unless schema.prisma has them: indexes without a condition on plain columns, also GIN
 *   (`@@index([name(ops: raw("gin_trgm_ops"))], type: Gin)`), hash and BRIN; defaults; generated columns
 *   (`@default(dbgenerated())`); foreign keys; tables; enums;
 * - dropped, and schema.prisma cannot express them: deferrable unique constraints, indexes with INCLUDE, NULLS LAST or
 *   NULLS NOT DISTINCT (a condition such as `WHERE true` makes an index ignored).
 *
 * A migration runs in a transaction: no BEGIN or COMMIT in it. The index of a large table is a migration of its own, outside a
 * transaction: see docs/development/database.md.
 */

const prismaFolder = fileURLToPath(import.meta.resolve('#package/prisma'));

/**
 * Compares a database with prisma/schema.prisma.
 *
 * @param connectionString of a migrated database
 * @returns SQL that takes the database to the schema, empty when they are equal
 */
export async function differenceSql(connectionString: string): Promise<string> {
  const path = join(prismaFolder, 'schema.prisma');
  const files = [{ path, content: await readFile(path, 'utf8') }];
  const { exitCode, stdout } = await withSchemaEngine(connectionString, (engine) =>
    engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: prismaFolder },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    }),
  );
  return exitCode === 0 ? '' : (stdout ?? '');
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
  if (process.env.DATABASE_URL) return work(process.env.DATABASE_URL);
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
  if (sql === '') return 'Nothing to do: the migrations match prisma/schema.prisma.';
  const folder = join(prismaFolder, 'migrations', `${await nextTimestamp()}_${name}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'migration.sql'), sql);
  return `Wrote ${join(folder, 'migration.sql')}. Read it before you commit it.`;
}

/** The time in UTC, but after the latest migration, in case this machine's clock is behind. */
async function nextTimestamp(): Promise<string> {
  const now = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const names = await readdir(join(prismaFolder, 'migrations'));
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
