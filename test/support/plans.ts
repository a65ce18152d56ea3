import type pg from 'pg';
import type { Queryable } from '../../src/database/client.ts';
import type { Sql } from '../../src/database/sql.ts';

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/** What the execution of a statement did. */
export interface Execution {
  /** Rows read from tables. */
  rowsRead: number;
  /** Indexes used. */
  indexes: string[];
  /** Tables read by a sequential scan. */
  scanned: string[];
}

/**
 * A database that explains statements instead of answering them.
 *
 * @param mode `generic`: the plan that ignores the values, which PostgreSQL may choose for a prepared statement
 */
export function explainingDatabase(pool: pg.Pool, mode: 'generic' | 'custom') {
  const executions: Execution[] = [];
  async function query<Row>({ text, values }: Sql): Promise<Row[]> {
    const client = await pool.connect();
    try {
      await client.query(`SET plan_cache_mode = force_${mode}_plan`);
      await client.query(`PREPARE explained AS ${text}`);
      const literals = values.map((value) => client.escapeLiteral(literal(value))).join(', ');
      const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE explained (${literals})`);
      executions.push(read(rows[0]['QUERY PLAN'][0].Plan));
      await client.query('DEALLOCATE explained; RESET plan_cache_mode');
      return [];
    } finally {
      client.release();
    }
  }
  const execute = (statement: Sql) => query(statement).then(() => 0);
  const database: Queryable = { query, execute };
  return { database, executions };
}

function literal(value: unknown): string {
  return Array.isArray(value) ? `{${value.join()}}` : String(value);
}

function read(root: PlanNode): Execution {
  const nodes = flatten(root).filter((node) => node['Actual Loops'] > 0);
  const tables = nodes.filter((node) => node['Relation Name'] !== undefined);
  return {
    rowsRead: tables.reduce((sum, node) => sum + rowsOf(node), 0),
    indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))].sort(),
    scanned: tables
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .map((node) => node['Relation Name'] ?? ''),
  };
}

function rowsOf(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return Math.round((node['Actual Rows'] + removed) * node['Actual Loops']);
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}
