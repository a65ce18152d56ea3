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
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

type EngineModule = typeof import('@prisma/schema-engine-wasm/schema_engine_bg');

// The compiler has these types only in its DOM library, which a service has no other use for.
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, unknown>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

const CATALOGUE_CHAR = pg.types.builtins.CHAR;
const CHAR_MARK = 'catalogue char: ';

let engineModule: Promise<EngineModule> | undefined;

/**
 * Prisma's schema engine (the one in its CLI) as WebAssembly, working on one connection.
 *
 * Beware: it takes the session's advisory lock 72707369 by itself and leaves it to the session's end.
 *
 * @param client a connected client; everything the engine does happens in its session and its open transaction
 * @param runScript runs a migration's SQL on that client
 */
export async function createSchemaEngine(
  client: pg.Client,
  runScript: (script: string) => Promise<unknown> = (script) => client.query(script),
): Promise<SchemaEngine> {
  engineModule ??= loadEngineModule();
  const { SchemaEngine } = await engineModule;
  const factory = bindMigrationAwareSqlAdapterFactory(adapterFactoryFor(client, runScript));
  return SchemaEngine.new({ datamodels: undefined }, () => undefined, factory);
}

/** By hand, because the package's own entry imports the .wasm file as a module, which Node 20 cannot. */
async function loadEngineModule(): Promise<EngineModule> {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const path = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bytes = await readFile(join(dirname(path), 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, {
    './schema_engine_bg.js': Object.fromEntries(Object.entries(bindings).map(withoutLastingTimers)),
  });
  bindings.__wbg_set_wasm(instance.exports);
  const start = instance.exports.__wbindgen_start;
  if (typeof start !== 'function') throw new Error('schema_engine_bg.wasm has no __wbindgen_start');
  start();
  return bindings;
}

/** The engine limits its wait for the lock with a timer that it never clears: the process would live on for 10 s. */
function withoutLastingTimers([name, value]: [string, unknown]): [string, unknown] {
  if (!name.startsWith('__wbg_setTimeout_')) return [name, value];
  return [name, (callback: () => void, delay: number) => setTimeout(callback, delay >>> 0).unref()];
}

/**
 * Prisma's adapter for PostgreSQL with three things put right for the engine:
 * - one session: the adapter wants a pool and would spread a migration over its connections, so it gets a pool that
 *   never connects and hands every query to the client;
 * - whole scripts: it splits a script at every semicolon, also at those in function bodies and comments;
 * - the type "char" of PostgreSQL's catalogue, which the engine asks for and the adapter refuses.
 */
function adapterFactoryFor(
  client: pg.Client,
  runScript: (script: string) => Promise<unknown>,
): SqlMigrationAwareDriverAdapterFactory {
  const query = async (config: pg.QueryArrayConfig) => {
    const result = await client.query(config);
    for (const field of result.fields) {
      if (field.dataTypeID !== CATALOGUE_CHAR) continue;
      field.dataTypeID = pg.types.builtins.TEXT;
      field.name = CHAR_MARK + field.name;
    }
    return result;
  };
  const factory = new PrismaPg(Object.assign(new pg.Pool(), { query }));
  const connect = async () => {
    const adapter = await factory.connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    return Object.assign(adapter, {
      queryRaw: async (query: SqlQuery) => {
        const result = await queryRaw(query);
        result.columnNames.forEach((name, index) => {
          if (!name.startsWith(CHAR_MARK)) return;
          result.columnNames[index] = name.slice(CHAR_MARK.length);
          result.columnTypes[index] = ColumnTypeEnum.Character;
        });
        return result;
      },
      executeScript: async (script: string) => {
        await runScript(script);
      },
    });
  };
  const connectToShadowDb = () => Promise.reject(new Error('not supported: compare with a real database'));
  return { provider: factory.provider, adapterName: factory.adapterName, connect, connectToShadowDb };
}
