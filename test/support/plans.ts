import type pg from 'pg';
import { partnerRequestKinds } from '../../src/domains/partner-requests/index.ts';
import { type Database, plannerSettings } from '../../src/infrastructure/database/client.ts';
import type { Sql } from '../../src/infrastructure/database/sql.ts';
import { createMailQueue } from '../../src/infrastructure/mail/queue.ts';

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/** What the execution of a statement did. */
export interface Execution {
  /** Rows read from tables, but for the categories, which are few and which do not grow. */
  rowsRead: number;
  /** Indexes used. */
  indexes: string[];
  /** Tables read by a sequential scan. */
  scanned: string[];
  /** Pages read, from the cache or from disk. */
  buffers: number;
  /** The most rows that a sort took. */
  sorted: number;
}

/**
 * A database that explains its SQL instead of answering it.
 *
 * @param mode `generic`: the plan that ignores the values, which PostgreSQL may choose for a prepared statement
 * @param options.answering runs each statement once more for its rows, so that the statements that depend on them follow
 */
export function explainingDatabase(
  answers: Database,
  mode: 'generic' | 'custom',
  { answering = false }: { answering?: boolean } = {},
) {
  const executions: Execution[] = [];
  async function query<Row extends pg.QueryResultRow>({ text, values }: Sql): Promise<Row[]> {
    const client = await answers.pool.connect();
    try {
      for (const [name, value] of Object.entries({
        ...plannerSettings,
        plan_cache_mode: `force_${mode}_plan`,
      }))
        await client.query(`SET ${name} = ${value}`);
      await client.query(`PREPARE explained AS ${text}`);
      const literals = values
        .map((value) => (value === null ? 'NULL' : client.escapeLiteral(literal(value))))
        .join(', ');
      const { rows } = await client.query(
        `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE explained (${literals})`,
      );
      executions.push(read(rows[0]['QUERY PLAN'][0].Plan));
      await client.query('DEALLOCATE explained; RESET ALL');
      return answering ? (await client.query<Row>({ text, values })).rows : [];
    } finally {
      client.release();
    }
  }
  const execute = (statement: Sql) => query(statement).then(() => 0);
  const database: Database = { ...answers, query, execute };
  return { database, executions };
}

/** An outbox without a relay. */
export const idleOutbox = { wake: () => undefined };

/** What a repository of partner requests needs. */
export const mailQueue = createMailQueue({ kinds: partnerRequestKinds, keyId: 'a-key', outbox: idleOutbox });

function literal(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? `{${value.join()}}` : String(value);
}

function read(root: PlanNode): Execution {
  const nodes = flatten(root).filter((node) => node['Actual Loops'] > 0);
  const tables = nodes.filter((node) => node['Relation Name'] !== undefined);
  const growing = tables.filter((node) => node['Relation Name'] !== 'store_categories');
  return {
    rowsRead: growing.reduce((sum, node) => sum + rowsOf(node), 0),
    indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))].sort(),
    scanned: tables
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .map((node) => node['Relation Name'] ?? ''),
    buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
    sorted: Math.max(0, ...nodes.filter(({ 'Node Type': type }) => type === 'Sort').map(rowsOfInput)),
  };
}

function rowsOf(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return Math.round((node['Actual Rows'] + removed) * node['Actual Loops']);
}

function rowsOfInput({ Plans: [input] = [] }: PlanNode): number {
  return input ? input['Actual Rows'] * input['Actual Loops'] : 0;
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}
