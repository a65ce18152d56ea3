/** A list that is ordered by time and id, newest first, as SQL. The conditions call a row of it `item`. */
export interface NewestFirst {
  /** A table with `id` and `created_at`. */
  table: string;
  /** Which of its rows are there at all: the condition of the index on `created_at` and `id`, where that has one. */
  present: string;
  /** What rows have to meet besides. */
  conditions: readonly string[];
  /** Where few rows may meet the conditions. */
  shortcuts?: Shortcuts;
}

/**
 * Other ways to the rows of a list, by indexes: `FROM` clauses with their `WHERE`, which has to hold the condition that they
 * are given. Together they lead to at least the rows that meet the conditions, and to none twice.
 */
export type Shortcuts = readonly ((begun: string) => string)[];

/** Rows that are looked at first, the newest ones: enough for a page of what every twentieth row meets. */
const nearby = 500;
/** Rows that are read by shortcuts. Where they lead to more, walking on from the newest row soon has a page. */
const readable = 2_000;
/** The longest page, and the row that tells whether there is another. The planner has to know, and cannot from a parameter. */
const longestPage = 101;

const order = 'ORDER BY created_at DESC, id DESC';

/**
 * Selects the ids of a page. `$1` and `$2` are the time and id to begin after, `$3` is how many.
 *
 * No plan is good for both what is rare and what is frequent, and the planner cannot know which it is: it takes
 * words that follow each other for independent. So the statement finds out, and each step runs only when the one before
 * was not enough: look at the newest rows; read what the shortcuts lead to; walk from the newest row to the oldest.
 *
 * @returns a query with the columns `id` and `created_at`, in no order
 */
export function newestFirst({ table, present, conditions, shortcuts = [] }: NewestFirst): string {
  const begun = `${present} AND (item.created_at, item.id) < ($1::timestamptz, $2::int)`;
  const meeting = conditions.map((condition) => ` AND ${condition}`).join('');
  const walk = (when: string) => `
    SELECT id, created_at FROM (
      SELECT item.id, item.created_at FROM ${table} item
      WHERE ${when}${present} AND (item.created_at, item.id) < (walk_from($1::timestamptz), $2::int)${meeting}
      ${order} LIMIT ${longestPage}
    ) walked LIMIT $3`;
  if (shortcuts.length === 0) return walk('');
  const led = shortcuts.map((shortcut) => `(SELECT item.* FROM ${shortcut(begun)})`).join(' UNION ALL ');
  return `
    WITH near AS MATERIALIZED (
      SELECT item.id, item.created_at
      FROM (SELECT * FROM ${table} item WHERE ${begun} ${order} LIMIT ${nearby}) item
      WHERE true${meeting} ${order} LIMIT $3
    ), led AS MATERIALIZED (
      SELECT * FROM (${led}) item WHERE (SELECT count(*) FROM near) < $3 LIMIT ${readable}
    ), walk AS MATERIALIZED (${walk(`(SELECT count(*) FROM led) = ${readable} AND `)})
    SELECT * FROM (
      SELECT * FROM near WHERE (SELECT count(*) FROM near) = $3
      UNION ALL
      SELECT item.id, item.created_at FROM led item WHERE (SELECT count(*) FROM led) < ${readable}${meeting}
      UNION ALL
      SELECT * FROM walk
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

/** SQL that joins the row with an id, row by row: `OFFSET 0` keeps the planner from reading the whole table instead. */
export function oneOf(table: string, alias: string, id: string): string {
  return `CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE id = ${id} OFFSET 0) ${alias}`;
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
