/** A list that is ordered by time and id, newest first, as SQL. The conditions call a row of it `item`. */
export interface NewestFirst {
  /** A table with `id` and `created_at`. */
  table: string;
  /** Which of its rows are there at all: the condition of the index on `created_at` and `id`, where that has one. */
  present: string;
  /** What rows have to meet besides. */
  conditions: readonly string[];
  /**
   * Where conditions are such that few rows may meet them: a `FROM` clause that calls its rows `item` and an index serves. It
   * holds at least the rows that meet the conditions, in any order.
   */
  candidates?: string | undefined;
}

/** Rows that are looked at first, the newest ones: enough for what every tenth row meets. */
const nearby = 200;
/** Up to so many rows are read by their own index and then sorted. With more, walking from the newest one soon has a page. */
const sortable = 1_000;
/** The longest page, and the row that tells whether there is another. The planner has to know, and cannot from a parameter. */
const longestPage = 101;

const order = 'ORDER BY created_at DESC, id DESC';

/**
 * Selects the ids of a page. `$1` and `$2` are the time and id to begin after, `$3` is how many.
 *
 * No plan is good for both what is rare and what is frequent, and the planner cannot know which it is: it takes
 * words that follow each other for independent. So the statement finds out, and each step runs only when the one before
 * was not enough: look at the newest rows; read what an index finds; walk on from the newest rows.
 *
 * @returns a query with the columns `id` and `created_at`, in no order
 */
export function newestFirst({ table, present, conditions, candidates }: NewestFirst): string {
  const started = `${present} AND (item.created_at, item.id) < ($1::timestamptz, $2::int)`;
  const meeting = conditions.map((condition) => ` AND ${condition}`).join('');
  const walk = (when: string) => `
    SELECT id, created_at FROM (
      SELECT item.id, item.created_at FROM ${table} item WHERE ${when}${started}${meeting} ${order} LIMIT ${longestPage}
    ) walked LIMIT $3`;
  if (candidates === undefined) return walk('');
  return `
    WITH near AS MATERIALIZED (
      SELECT item.id, item.created_at
      FROM (SELECT * FROM ${table} item WHERE ${started} ${order} LIMIT ${nearby}) item
      WHERE true${meeting} ${order} LIMIT $3
    ), found AS MATERIALIZED (
      SELECT item.id, item.created_at FROM ${candidates}
      WHERE (SELECT count(*) FROM near) < $3 AND ${started}${meeting} LIMIT ${sortable}
    ), walk AS MATERIALIZED (${walk(`(SELECT count(*) FROM found) = ${sortable} AND `)})
    SELECT * FROM (
      SELECT * FROM near WHERE (SELECT count(*) FROM near) = $3
      UNION ALL SELECT * FROM found WHERE (SELECT count(*) FROM found) < ${sortable}
      UNION ALL SELECT * FROM walk
    ) either ${order} LIMIT $3`;
}

/** The values of `$1` to `$3`. */
export function newestFirstValues(
  after: { time: number; id: string } | undefined,
  limit: number,
): [time: string, id: number, limit: number] {
  return after === undefined
    ? ['infinity', 0, limit]
    : [new Date(after.time).toISOString(), Number(after.id), limit];
}

/** SQL that is true where a folded text holds the text of a parameter. */
export function holdsText(foldedText: string, parameter: string): string {
  // A subquery is computed once, and not for each row.
  return `position((SELECT search_fold(${parameter})) IN ${foldedText}) > 0`;
}

/**
 * SQL that is true where a folded text has every pair of neighbouring characters of a parameter, or its only character. A
 * GIN index on `search_grams(...) COLLATE "C"` serves it.
 */
export function hasGramsOf(foldedText: string, parameter: string): string {
  return `(search_grams(${foldedText}) COLLATE "C") @> (
    SELECT array_agg(gram) FROM unnest(search_grams(search_fold(${parameter}))) AS gram
    WHERE char_length(gram) = least(2, char_length(search_fold(${parameter}))))`;
}
