import { callbackify } from 'node:util';
import pg from 'pg';
import type { Test } from 'tap';

/** What the executions of a statement did, in its functions, triggers and foreign keys, too. */
export interface Measure {
  /** The columns that it returns. */
  fields: pg.FieldDef[];
  /** The most pages of tables and indexes that one execution touched. */
  pages: number;
  /** By table with partitions: the most of them that one execution touched. */
  partitions: Map<string, number>;
  /** Tables that were read by a sequential scan. */
  scanned: Set<string>;
  /** By table: whether an update changed an index. One that changes none (HOT) writes less, and needs no vacuum. */
  updated: Map<string, boolean>;
}

/** Of all tables and indexes that the transaction has touched; `table` is that of which one is, or is of, a partition. */
const counts = `
  SELECT relname AS name, inhparent::regclass::text AS table, coalesce(indrelid, oid)::int AS partition,
    pg_stat_get_xact_blocks_fetched(oid)::int AS pages, pg_stat_get_xact_tuples_returned(oid)::int AS rows,
    relkind = 'r' AS "isTable", pg_stat_get_xact_numscans(oid)::int AS scans,
    pg_stat_get_xact_tuples_inserted(oid)::int AS added,
    pg_stat_get_xact_tuples_updated(oid)::int AS updates, pg_stat_get_xact_tuples_hot_updated(oid)::int AS hot
  FROM pg_class LEFT JOIN pg_index ON indexrelid = oid LEFT JOIN pg_inherits ON inhrelid = coalesce(indrelid, oid)
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i') AND pg_stat_get_xact_blocks_fetched(oid) > 0`;
const untouched = { pages: 0, rows: 0, scans: 0, added: 0, updates: 0, hot: 0 };
type Counts = typeof untouched & { name: string; table: string | null; partition: number; isTable: boolean };

/** The name of a statement of SQL: that of its comment. */
export const nameOf = (text: string) => /^\s*\/\* ([\w.-]+) \*\//.exec(text)?.[1];
/** Those of Prisma's client. */
const isOfPrisma = (text: string) => text.includes('"public".');
/** Those that run beside what is measured. */
const isOfQueue = (text: string) => /^(outbox|jobs|mails)\./.test(nameOf(text) ?? '');

/**
 * Measures the statements on every connection of this process until the test ends, each in the transaction that it runs in or in one
 * of its own.
 *
 * @returns `measures` by the text of the statement; the `sum` of all of them, which the test sets back, where rows are those that scans
 *   read, not only those that they returned; the `clients` that prepared a statement; the texts of those that were `unprepared`, so that
 *   they are planned at each execution, and of those that have no name
 */
export function measureStatements(t: Test) {
  const measures = new Map<string, Measure>();
  const sum = { pages: 0, rows: 0 };
  const clients = new Set<pg.Client>();
  const unprepared = new Set<string>();
  const unnamed = new Set<string>();
  const { query } = pg.Client.prototype;

  async function measured(client: pg.Client, text: string, args: unknown[]): Promise<pg.QueryResult> {
    const run = (...args: unknown[]): Promise<pg.QueryResult> => Reflect.apply(query, client, args);
    if (Object(args[0]).name === undefined) unprepared.add(text);
    else if (!clients.has(client)) {
      clients.add(client);
      client.once('end', () => clients.delete(client));
    }
    const isAlone = client.getTransactionStatus() === 'I';
    if (isAlone) await run('BEGIN');
    try {
      const { rows: before } = await run(counts);
      const result = await run(...args);
      const { rows: after } = await run(counts);
      add(text, result.fields, before, after);
      return result;
    } finally {
      if (isAlone) await run('COMMIT');
    }
  }

  function add(text: string, fields: pg.FieldDef[], before: Counts[], after: Counts[]): void {
    const empty = { pages: 0, partitions: new Map(), scanned: new Set<string>(), updated: new Map() };
    const measure: Measure = measures.get(text) ?? { fields, ...empty };
    measures.set(text, measure);
    const partitions = new Map<string, Set<number>>();
    let pages = 0;
    for (const { name, table, partition, isTable, ...now } of after) {
      const old = before.find((one) => one.name === name) ?? untouched;
      if (now.pages === old.pages) continue;
      pages += now.pages - old.pages;
      if (!isOfQueue(text)) sum.rows += now.rows - old.rows;
      const isScanned = now.scans > old.scans;
      if (isTable && isScanned) measure.scanned.add(table ?? name);
      const updates = now.updates - old.updates;
      if (updates > 0) measure.updated.set(name, measure.updated.get(name) || updates > now.hot - old.hot);
      // Planning reads a page of each index, too.
      if (table !== null && (isScanned || now.added > old.added))
        partitions.set(table, (partitions.get(table) ?? new Set()).add(partition));
    }
    measure.pages = Math.max(measure.pages, pages);
    if (!isOfQueue(text)) sum.pages += pages;
    for (const [table, { size }] of partitions)
      measure.partitions.set(table, Math.max(size, measure.partitions.get(table) ?? 0));
  }

  t.teardown(() => Object.assign(pg.Client.prototype, { query }));
  // `t.capture` would take a stack trace at each call.
  function replacement(this: pg.Client, ...args: unknown[]): unknown {
    const [statement] = args;
    const text = typeof statement === 'string' ? statement : String(Object(statement).text);
    if (nameOf(text) === undefined && !isOfPrisma(text)) {
      // Those of transactions and of the tests are not prepared, and those of the queue name it.
      if (Object(statement).name !== undefined && !text.includes('graphile_worker')) unnamed.add(text);
      return Reflect.apply(query, this, args);
    }
    const callback = args.at(-1);
    if (typeof callback !== 'function') return measured(this, text, args);
    return callbackify(measured)(this, text, args.slice(0, -1), callback as () => void);
  }
  Object.assign(pg.Client.prototype, { query: replacement });
  return { measures, sum, clients, unprepared, unnamed };
}
