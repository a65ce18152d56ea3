import { AsyncLocalStorage } from 'node:async_hooks';
import { PrismaPg } from '@prisma/adapter-pg';
import type { ITXClientDenyList } from '@prisma/client/runtime/client';
import pg from 'pg';
import type { Tracing } from '../telemetry/tracing.ts';
import { openPool } from './connection.ts';
import { PrismaClient } from './generated/client.ts';
import { type Sql, statementName } from './sql.ts';

type Prisma = ReturnType<typeof createPrisma>;

/** Prisma's client and hand-written statements: on one connection in a transaction, else each by itself. */
export interface Tx {
  prisma: Omit<Prisma, ITXClientDenyList>;
  /** @returns the rows */
  query<Row extends pg.QueryResultRow>(statement: Sql): Promise<Row[]>;
  /** @returns how many rows were affected */
  execute(statement: Sql): Promise<number>;
  /** Calls a function once the transaction is committed; at once where each statement is a transaction. */
  afterCommit(action: () => void): void;
}

/** Runs statements that only read. */
export type Reader = Pick<Tx, 'query'>;

/** The database of one instance, on one pool. */
export interface Database extends Tx {
  pool: pg.Pool;
  /** Runs work in one transaction, which is rolled back when it throws. The work awaits every statement. @throws in another transaction */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Whether a transaction pooler stands in between: it keeps neither settings of a connection nor prepared statements. */
  pooled?: boolean;
  /** How many times longer than in production everything may take; 1 by default. */
  limitFactor?: number | undefined;
  /** Runs each statement; makes a span of it where there is tracing. */
  traceStatement?: Tracing['traceStatement'] | undefined;
}

/** Milliseconds, by which requests end within ten seconds: the server ends what it controls, `query_timeout` the rest. */
const timeouts = { connect: 3_000, lock: 3_000, statement: 5_000, idleInTransaction: 8_000, query: 6_000 };

/**
 * Each statement is planned once per connection, because planning most of them takes longer than the execution. So one plan has
 * to suit all values; where the best plan depends on a value, the text does, too. A page that is read at random costs hardly more
 * than the next one, as on SSDs and in memory: then rows are read through the index that is in the order of the list, as far as
 * needed, instead of being sorted, and rows of other tables are looked up. With a transaction pooler its server connections or the
 * role have these settings.
 */
export const plannerSettings = {
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  random_page_cost: '1.1',
} as const;

/** The 64 bits of an id or a count as a number, which is exact up to 2^53. */
export const int8AsNumber: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
};

const untraced: Tracing['traceStatement'] = (_text, run) => run();

/** Opens a pool lazily, the first query makes the first connection; `statementsOn` it, or on one connection, runs SQL. */
export function openConnections(options: DatabaseOptions, defaults = timeouts) {
  const { url, poolSize, pooled = false, limitFactor = 1, traceStatement = untraced } = options;
  const limits = Object.fromEntries(
    Object.entries(defaults).map(([name, limit]) => [name, limit * limitFactor]),
  ) as typeof timeouts;
  const settings = {
    options: Object.entries({ ...plannerSettings, timezone: 'UTC' })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    statement_timeout: limits.statement,
    lock_timeout: limits.lock,
    idle_in_transaction_session_timeout: limits.idleInTransaction,
  };
  const pool = openPool({
    connectionString: url,
    max: poolSize,
    application_name: 'dure',
    connectionTimeoutMillis: limits.connect,
    query_timeout: limits.query,
    idleTimeoutMillis: 30_000,
    // PostgreSQL never gives back what a connection has cached.
    maxLifetimeSeconds: 3_600,
    types: int8AsNumber,
    ...(pooled ? {} : settings),
  });

  /** Prepared by name, unless a pooler stands in between. */
  function statementsOn(connection: () => pg.Pool | pg.PoolClient): Pick<Tx, 'query' | 'execute'> {
    const run = async <Row extends pg.QueryResultRow>(statement: Sql) => {
      const { text, values } = statement;
      const name = pooled ? undefined : statementName(text);
      return traceStatement(text, () => connection().query<Row>({ text, values, ...(name && { name }) }));
    };
    return {
      query: async <Row extends pg.QueryResultRow>(statement: Sql) => (await run<Row>(statement)).rows,
      execute: async (statement) => (await run(statement)).rowCount ?? 0,
    };
  }
  return { pool, statementsOn, limits, traceStatement };
}

/** Opens the database; see {@link openConnections}. */
export function openDatabase(options: DatabaseOptions): Database {
  const { pool, statementsOn, limits, traceStatement } = openConnections(options);
  /** The connection of the transaction that is running; it throws once that has ended. */
  const running = new AsyncLocalStorage<() => pg.PoolClient>();

  function poolOutside(): pg.Pool {
    if (running.getStore())
      throw new Error('this runs in a transaction: use its tx, without a nested write of Prisma');
    return pool;
  }

  // For Prisma's client, whose statements run on the connection of the transaction in which they are called.
  const followingPool = new Proxy(pool, {
    get(target, name) {
      if (name === 'query')
        return (query: pg.QueryConfig) =>
          traceStatement(query.text, () => (running.getStore()?.() ?? pool).query(query));
      if (name === 'connect') return () => poolOutside().connect();
      return Reflect.get(target, name);
    },
  });
  const nameStatements = { statementNameGenerator: (query: { sql: string }) => statementName(query.sql) };
  const prisma = createPrisma(new PrismaPg(followingPool, options.pooled ? {} : nameStatements));

  return {
    pool,
    prisma,
    ...statementsOn(poolOutside),
    afterCommit: (action) => action(),
    async transaction(work) {
      const client = await poolOutside().connect();
      const actions = new Set<() => void>();
      let hasEnded = false;
      function connection(): pg.PoolClient {
        if (hasEnded) throw new Error('the transaction has ended: await every statement in it');
        return client;
      }
      const send = (text: string) => traceStatement(text, () => client.query(text));
      // A connection whose state is unknown is closed, which rolls back.
      let isBroken = true;
      try {
        const startedAt = performance.now();
        await send('BEGIN');
        const tx = { prisma, ...statementsOn(connection), afterCommit: actions.add.bind(actions) };
        // Awaited here, because Prisma starts a call when it is awaited.
        const result = await running.run(connection, async () => await work(tx));
        // The error response has been sent already, or will be at any moment. The code is that of a statement that took too long.
        if (performance.now() - startedAt > limits.idleInTransaction)
          throw Object.assign(new Error('the transaction took too long'), { code: '57014' });
        const { command } = await send('COMMIT');
        if (command !== 'COMMIT')
          throw new Error('the transaction was rolled back, because a statement had failed');
        isBroken = false;
        hasEnded = true;
        for (const action of actions) action();
        return result;
      } catch (error) {
        hasEnded = true;
        await send('ROLLBACK').then(
          () => (isBroken = false),
          () => undefined,
        );
        throw error;
      } finally {
        client.release(isBroken);
      }
    },
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** Prisma's client, whose rows have ids of 64 bits as numbers, too. */
function createPrisma(adapter: PrismaPg) {
  const id = { needs: { id: true }, compute: (row: { id: bigint }) => Number(row.id) };
  const postId = { needs: { postId: true }, compute: (row: { postId: bigint }) => Number(row.postId) };
  const numberOrNull = (value: bigint | null) => (value === null ? null : Number(value));
  /** It joins calls of one moment into one statement, which may be of different transactions. */
  function findUnique(): never {
    throw new Error('use findFirst');
  }
  return new PrismaClient({ adapter, errorFormat: 'minimal' }).$extends({
    model: { $allModels: { findUnique, findUniqueOrThrow: findUnique } },
    result: {
      post: { id },
      image: { id },
      postImage: { postId, imageId: { needs: { imageId: true }, compute: (row) => Number(row.imageId) } },
      partnerRequest: { id, postId },
      report: { id, postId: { needs: { postId: true }, compute: (row) => numberOrNull(row.postId) } },
      failedMail: { id },
      auditEntry: {
        id,
        subjectId: { needs: { subjectId: true }, compute: (row) => numberOrNull(row.subjectId) },
      },
    },
  });
}
