import type { Reader } from './client.ts';
import { afterId, afterTime, type BoundedPage, type PageRequest } from './keyset.ts';
import { join, raw, type Sql, sql } from './sql.ts';

/*
 * Stores and posts are listed newest first, and filtered by text and by the category of the store. Text search needs no extension:
 * `search_keys` hashes the pairs of neighbouring characters of a text, a GIN index finds the rows that have those of the query,
 * and `position` decides whether they stand together. The functions are in the migrations.
 */

/** A list that can be searched. Conditions call a row `item`. */
export interface SearchableList {
  table: 'posts' | 'stores';
  /** The id of the store of a row. */
  storeId: Sql;
  /** Which rows exist for readers: the condition of the partial indexes. */
  exists: Sql;
  /** The conditions on the store with an id, apart from its category. They must be cheap. */
  storeConditions(storeId: Sql): Sql[];
  /** Selects what the caller needs of the rows of `page`, with `id` and `createdAt`. */
  select: Sql;
}

/** What to search for. */
interface SearchFilter extends PageRequest {
  /** A text that rows contain; empty for all. */
  q: string;
  /** Rows of stores of this category. */
  categoryId: number | undefined;
  /** The id of the store whose rows are listed, from an index of each store in order. */
  ofStore?: Sql | undefined;
}

/** What one statement may examine. A text of 10 kB costs as much as a hundred short ones; the last row may go beyond the bytes. */
interface Budget {
  rows: number;
  textBytes: number;
}

/** What the scans of one request may examine: `first` is enough for a page that every twentieth row matches. */
export const scanBudgets = {
  first: { rows: 500, textBytes: 1_000_000 },
  most: { rows: 5_000, textBytes: 2_000_000 },
} satisfies Record<string, Budget>;

/** How many stores of a category are looked at one by one. */
const maxStores = 2_000;
/** One row of so many is in the sample index; as in the migrations. */
const sampledOf = 503;
/** How many rows of the sample have the keys of a text that counts as rare. */
const maxSampled = Math.floor(scanBudgets.most.rows / sampledOf);
/** How many keys of a text are looked up: of a longer text every second, third and so on. More cost more than they leave out. */
const maxKeys = 5;

/** Rows to examine, newest first. */
interface Source {
  /** Common table expressions before the others. */
  expressions: Sql[];
  rows: Sql;
  /** False where nothing was read, because there would be too much. */
  isUsable: Sql;
  budget: Budget;
}

interface Outcome {
  isUsable: boolean;
  stoppedTime: Date | null;
  stoppedId: number | null;
}

/** The order of every list. */
export const newestFirst = raw('ORDER BY created_at DESC, id DESC');
const searchText = raw('item.search_text');
const allOf = (conditions: Sql[]): Sql => (conditions.length > 0 ? join(conditions, ' AND ') : sql`true`);
const constant = (number: number): Sql => raw(String(number));

/**
 * Reads one page of a searchable list.
 *
 * No single plan suits both rare and frequent matches, and the planner cannot distinguish them, because it assumes that words
 * are independent. So there are three ways, each with a bound on the rows that it examines, and each runs only when those
 * before it did not suffice:
 *
 * 1. Scan a few rows in order, which fills a page where matches are frequent.
 * 2. Look up the rows through the index of the text or of the category, which finds all matches where candidates are few.
 * 3. Scan more rows in order. The page may remain short; the next one continues after the last row that was examined.
 */
export async function findPage<Row extends { id: number; createdAt: Date }>(
  database: Reader,
  list: SearchableList,
  filter: SearchFilter,
  budgets: typeof scanBudgets,
): Promise<BoundedPage<Row>> {
  const find = async (source: Source) => {
    const rows = await database.query<Row & Outcome>(pageSql(list, filter, source));
    const { isUsable = false, stoppedTime: time, stoppedId: id } = rows[0] ?? {};
    const stoppedAt = time && id ? { time: time.getTime(), id: String(id) } : undefined;
    // The outcome of an empty page is a row without columns of its own.
    return { isUsable, page: { rows: rows.filter((row) => row.id !== null), stoppedAt } };
  };
  const lookups = lookupsOf(list, filter, budgets.most);
  if (lookups.length > 0) {
    const { page } = await find(scan(list, filter, budgets.first));
    if (page.stoppedAt === undefined) return page;
  }
  for (const lookup of lookups) {
    const { page, isUsable } = await find(lookup);
    if (isUsable) return page;
  }
  return (await find(scan(list, filter, budgets.most))).page;
}

/** Walks an ordered index, of the whole list or of one store. */
function scan(list: SearchableList, filter: SearchFilter, budget: Budget): Source {
  const ofOneStore = filter.ofStore === undefined ? [] : conditionsOnStore(list, filter);
  const rows = sql`
    SELECT item.* FROM ${raw(list.table)} item WHERE ${allOf([rowsAfter(list, filter), ...ofOneStore])}
    ${newestFirst} LIMIT ${constant(budget.rows)}`;
  return { expressions: [], rows, isUsable: sql`true`, budget };
}

/**
 * The lookups that may find all rows: each says by `rare` whether it reads them, and then has those to examine in `candidate`.
 *
 * The GIN index reads the entries of all rows that have one of the keys. So it is asked only where a sample says that few rows
 * have all of them. The rows of a category are read store by store, where these are few.
 */
function lookupsOf(list: SearchableList, filter: SearchFilter, budget: Budget): Source[] {
  const { q, categoryId, ofStore } = filter;
  const table = raw(list.table);
  const hasKeys = (keys: Sql) => sql`search_keys(${searchText}) @> (SELECT keys FROM ${keys})`;
  const candidates = (rows: Sql) => sql`candidate AS (
    SELECT item.id, item.created_at FROM ${rows} AND ${rowsAfter(list, filter)} LIMIT ${constant(budget.rows + 1)})`;
  // The pairs come first; a single character has none.
  const byText = sql`
    part AS (
      SELECT ARRAY(SELECT keys[place] FROM generate_series(1, pairs, 1 + (pairs - 1) / ${constant(maxKeys)}) place) AS keys
      FROM search_key(${q}::text) AS folded, greatest(char_length(folded) - 1, 1) AS pairs, search_keys(folded) AS keys
    ), rare AS (
      SELECT keys FROM part WHERE (
        SELECT count(*) <= ${constant(maxSampled)} FROM (
          SELECT FROM ${table} item
          WHERE ${list.exists} AND item.id % ${constant(sampledOf)} = 0 AND ${hasKeys(sql`part`)}
          LIMIT ${constant(maxSampled + 1)}
        ) sampled)
    )`;
  const byCategory = sql`
    link AS (
      SELECT store_id FROM store_category_links WHERE category_id = ${categoryId}::int LIMIT ${constant(maxStores + 1)}
    ), rare AS (SELECT FROM link HAVING count(*) <= ${constant(maxStores)})`;
  const lookup = (...expressions: Sql[]): Source => {
    const isUsable = sql`EXISTS (SELECT FROM rare) AND (SELECT count(*) <= ${constant(budget.rows)} FROM candidate)`;
    const rows = sql`
      SELECT item.* FROM (SELECT * FROM candidate WHERE ${isUsable} ${newestFirst}) candidate
      JOIN ${table} item USING (id, created_at)`;
    return { expressions, rows, isUsable, budget };
  };
  const lookups: Source[] = [];
  if (q !== '') lookups.push(lookup(byText, candidates(sql`${table} item WHERE ${hasKeys(sql`rare`)}`)));
  if (categoryId !== undefined && ofStore === undefined) {
    const items = sql`link JOIN ${table} item ON ${list.storeId} = link.store_id WHERE EXISTS (SELECT FROM rare)`;
    lookups.push(lookup(byCategory, candidates(items)));
  }
  return lookups;
}

/** One page of the rows of a source. Stops at a full page, or where the budget is used up. */
function pageSql(list: SearchableList, filter: SearchFilter, source: Source): Sql {
  const { q, limit } = filter;
  const { expressions, rows, isUsable, budget } = source;
  const maxText = constant(budget.textBytes);
  const textBytes = q === '' ? sql`0` : sql`octet_length(${searchText})`;
  // The subquery makes PostgreSQL compute the key of the query once instead of once a row.
  const contains = sql`position((SELECT search_key(${q}::text)) IN ${searchText}) > 0`;
  const conditions = [...(q === '' ? [] : [contains]), ...conditionsOnStore(list, filter)];
  // Running totals in the order of the index need no sort, and end with the page. `walked` has the matches, and the last row
  // that may be examined.
  const walked = sql`walked AS (
    SELECT id, created_at, is_last, NOT is_last OR matches AS matches FROM (
      SELECT item.id, item.created_at, place = ${constant(budget.rows)} OR text_read >= ${maxText} AS is_last,
        CASE WHEN text_read - ${textBytes} < ${maxText} THEN ${allOf(conditions)} END AS matches
      FROM (
        SELECT item.*, row_number() OVER running AS place, sum(${textBytes}) OVER running AS text_read
        FROM (${rows}) item
        WINDOW running AS (${newestFirst} ROWS UNBOUNDED PRECEDING)
      ) item
    ) item
    WHERE matches OR is_last ${newestFirst} LIMIT ${limit}
  ), page AS (
    SELECT id, created_at FROM walked WHERE matches
  ), stopped AS (
    SELECT created_at AS "stoppedTime", id AS "stoppedId" FROM walked
    WHERE is_last AND (SELECT count(*) FROM page) < ${limit} ${newestFirst} LIMIT 1
  )`;
  return sql`
    WITH ${join([...expressions, walked])}
    SELECT found.*, stopped.*, ${isUsable} AS "isUsable"
    FROM (SELECT) one_row LEFT JOIN stopped ON true LEFT JOIN (${list.select}) found ON true
    ORDER BY found."createdAt" DESC, found.id DESC`;
}

function rowsAfter({ exists }: SearchableList, { after }: SearchFilter): Sql {
  return sql`${exists} AND (item.created_at, item.id) < (${afterTime(after)}, ${afterId(after)})`;
}

/** All conditions on the store of a row. Where the rows of one store are listed, it is asked once. */
function conditionsOnStore(
  { storeId, storeConditions }: SearchableList,
  { categoryId, ofStore }: SearchFilter,
): Sql[] {
  const asked = ofStore ?? storeId;
  // False instead of NULL, so that the conditions after it are not evaluated.
  const isOfCategory = sql`(
    SELECT true FROM store_category_links WHERE store_id = ${asked} AND category_id = ${categoryId}::int) IS NOT NULL`;
  return [
    ...(ofStore === undefined ? [] : [sql`${storeId} = ${ofStore}`]),
    ...(categoryId === undefined ? [] : [isOfCategory]),
    ...storeConditions(asked),
  ];
}
