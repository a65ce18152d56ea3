import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from './generated/client.ts';

/** A connection to run statements on: the client itself, or a transaction. */
export type Connection = Prisma.TransactionClient;

/** The database of one instance: one pool, and Prisma's client over it. */
export interface Database {
  pool: pg.Pool;
  client: PrismaClient;
  /** Runs work in one transaction; it is rolled back when the work throws. */
  transaction<Result>(work: (transaction: Connection) => Promise<Result>): Promise<Result>;
  /**
   * Runs one of the few queries that every request makes, as a prepared statement where nothing stands in between.
   *
   * @param name of the statement; one name, one text
   */
  query<Row extends pg.QueryResultRow>(
    name: string,
    text: string,
    values: unknown[],
  ): Promise<pg.QueryResult<Row>>;
  close(): Promise<void>;
}

interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Whether a transaction-pooling proxy stands in between: it refuses settings at connection start. */
  pooled: boolean;
  onError(error: Error): void;
}

/**
 * How long the database may take, in milliseconds. Together they keep every request below ten seconds, whatever PostgreSQL does:
 * the server ends what it still controls, `query_timeout` what it does not.
 */
const timeouts = { connect: 3_000, lock: 3_000, statement: 5_000, idleInTransaction: 8_000, query: 6_000 };

/** Opens the pool lazily: no connection is made before the first query. */
export function openDatabase({ url, poolSize, pooled, onError }: DatabaseOptions): Database {
  const settings = {
    statement_timeout: timeouts.statement,
    lock_timeout: timeouts.lock,
    idle_in_transaction_session_timeout: timeouts.idleInTransaction,
  };
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    application_name: 'dure',
    connectionTimeoutMillis: timeouts.connect,
    query_timeout: timeouts.query,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    ...(pooled ? {} : settings),
  });
  // An idle connection that breaks is replaced at its next use; without a listener the process would end.
  pool.on('error', onError);
  const client = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  return {
    pool,
    client,
    transaction: (work) =>
      client.$transaction(work, { maxWait: timeouts.connect, timeout: timeouts.idleInTransaction }),
    query: (name, text, values) => pool.query({ text, values, ...(pooled ? {} : { name }) }),
    async close() {
      await client.$disconnect();
      await pool.end();
    },
  };
}
