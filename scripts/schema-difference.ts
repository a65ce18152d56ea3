import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedServer } from '../src/development/embedded-postgres/server.ts';
import { migrate } from '../src/infrastructure/database/migrations.ts';
import { withSchemaEngine } from './schema-engine.ts';

/*
 * What prisma/schema.prisma says and no migration does. Prisma compares tables, columns, enums, foreign keys and indexes on plain
 * columns. As to what is only in a migration's SQL, it
 *
 * - ignores, so that it is safe to write by hand: check and exclusion constraints, partial indexes, indexes on expressions (also
 *   GIN on to_tsvector(...)), functions, triggers, views, sequences, domains, extensions, extended statistics, row
 *   security, collations, storage parameters, comments;
 * - drops unless schema.prisma has them: indexes without a condition on plain columns, also GIN
 *   (`@@index([name(ops: raw("gin_trgm_ops"))], type: Gin)`), hash and BRIN; defaults; generated columns
 *   (`@default(dbgenerated())`); foreign keys; tables; enums;
 * - drops, and schema.prisma cannot express them: deferrable unique constraints, indexes with INCLUDE, NULLS LAST or
 *   NULLS NOT DISTINCT (a condition such as `WHERE true` makes an index ignored).
 */

/** The folder of the schema and of the migrations. */
export const prismaFolder = fileURLToPath(import.meta.resolve('#package/prisma'));
const schemaPath = join(prismaFolder, 'schema.prisma');

/** The committed schema. */
export const readSchema = () => readFile(schemaPath, 'utf8');

/**
 * Compares a database with a schema.
 *
 * @param connectionString of a migrated database
 * @param schema by default prisma/schema.prisma
 * @returns SQL that takes the database to the schema, empty when they are equal
 * @throws when the schema is invalid
 */
export async function differenceSql(connectionString: string, schema?: string): Promise<string> {
  const files = [{ path: schemaPath, content: schema ?? (await readSchema()) }];
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

/**
 * Applies the migrations to a new database, of the server of DATABASE_URL or of an embedded one, and compares it with
 * prisma/schema.prisma.
 *
 * @returns SQL of the migration that is missing, empty when none is
 */
export async function missingMigration(): Promise<string> {
  if (process.env.DATABASE_URL) return migrateAndCompare(process.env.DATABASE_URL);
  const directory = await mkdtemp(join(tmpdir(), 'dure-migration-'));
  try {
    const server = await startEmbeddedServer({ directory });
    return await migrateAndCompare(server.url).finally(server.stop);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function migrateAndCompare(serverUrl: string): Promise<string> {
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

/**
 * Splits SQL that is missing into migrations: what runs in one transaction, then each index of a table that has rows. PostgreSQL
 * creates or drops an index without blocking writes only outside a transaction.
 */
export function toMigrations(sql: string): string[] {
  const isIndex = /^(CREATE (?:UNIQUE )?|DROP )INDEX (?:"\w+" ON ("\w+"))?/m;
  const statements = sql.trim().split(/\n\n(?=-- )/);
  const isAlone = (statement: string) => {
    const [found, , table] = isIndex.exec(statement) ?? [];
    return found !== undefined && !(table && sql.includes(`CREATE TABLE ${table} `));
  };
  const concurrently = (statement: string) =>
    `-- Outside a transaction\n${statement
      .replace(/^--.*\n/, '')
      .replace('DROP INDEX', 'DROP INDEX CONCURRENTLY IF EXISTS')
      .replace(/^(CREATE .*?INDEX)/, '$1 CONCURRENTLY IF NOT EXISTS')}`;
  const together = statements.filter((statement) => !isAlone(statement)).join('\n\n');
  const alone = statements.filter(isAlone).map(concurrently);
  return [...(together === '' ? [] : [together]), ...alone].map((one) => `${one}\n`);
}
