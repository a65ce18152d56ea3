import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlMigrationAwareDriverAdapterFactory,
  type SqlQuery,
} from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

// TypeScript has these types only in its DOM library.
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, unknown>,
  ): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
};

await loadEngine();

/**
 * Runs work with Prisma's schema engine, the one of Prisma's CLI, as WebAssembly. For development and tests only.
 *
 * The engine takes the advisory lock `advisoryLocks.migrations` for the time of the work.
 *
 * @param connectionString of the database that the engine reads
 */
export async function withSchemaEngine<Result>(
  connectionString: string,
  work: (engine: bindings.SchemaEngine) => Promise<Result>,
): Promise<Result> {
  // One connection, because the lock belongs to a session.
  const pool = new pg.Pool({ connectionString, max: 1 });
  try {
    const factory = bindMigrationAwareSqlAdapterFactory(createAdapterFactory(pool));
    return await work(await bindings.SchemaEngine.new({ datamodels: undefined }, () => undefined, factory));
  } finally {
    await pool.end();
  }
}

/** The package's own entry imports the .wasm file as a module, which Node 20 does not support. */
async function loadEngine(): Promise<void> {
  const path = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bytes = await readFile(join(dirname(path), 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, {
    './schema_engine_bg.js': Object.fromEntries(Object.entries(bindings).map(unrefTimers)),
  });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
}

/** The engine does not clear the timeout of its lock, which would keep the process alive for 10 s. */
function unrefTimers([name, value]: [string, unknown]): [string, unknown] {
  if (!name.startsWith('__wbg_setTimeout_')) return [name, value];
  return [name, (callback: () => void, delay: number) => setTimeout(callback, delay).unref()];
}

/**
 * Prisma's adapter rejects the type "char" of PostgreSQL's catalogue, which the engine reads. Such columns pass the
 * adapter as text with a marked name and get their type back after it.
 */
function createAdapterFactory(pool: pg.Pool): SqlMigrationAwareDriverAdapterFactory {
  const mark = '"char" ';
  const queryPool = pool.query.bind(pool);
  const query = async (config: pg.QueryArrayConfig) => {
    const result = await queryPool(config);
    for (const field of result.fields) {
      if (field.dataTypeID !== pg.types.builtins.CHAR) continue;
      field.dataTypeID = pg.types.builtins.TEXT;
      field.name = mark + field.name;
    }
    return result;
  };
  const factory = new PrismaPg(Object.assign(pool, { query }));
  const connectAdapter = factory.connect.bind(factory);
  const connect = async () => {
    const adapter = await connectAdapter();
    const queryAdapter = adapter.queryRaw.bind(adapter);
    const queryRaw = async (query: SqlQuery) => {
      const result = await queryAdapter(query);
      result.columnNames.forEach((name, index) => {
        if (!name.startsWith(mark)) return;
        result.columnNames[index] = name.slice(mark.length);
        result.columnTypes[index] = ColumnTypeEnum.Character;
      });
      return result;
    };
    return Object.assign(adapter, { queryRaw });
  };
  return Object.assign(factory, { connect });
}
