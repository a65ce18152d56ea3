import { afterId, afterTime, newestFirst, type PageRequest } from '../database/keyset.ts';
import { allOf, constant, join, raw, type Sql, sql } from '../database/sql.ts';
import { inOrder, type Near, rowOf, scanAround, storePlace, withDistance } from './near.ts';

/** A list that can be searched. Conditions call a row `item`, and its store `s`. */
export interface SearchableList {
  table: 'posts' | 'stores';
  /** The id of the store of a row. */
  storeId: Sql;
  /** Which rows exist for readers: the condition of the indexes of texts. */
  exists: Sql;
  /** Which of them are examined: with `exists` the condition of the indexes in order. All without it. */
  isExamined?: Sql;
  /** Which of those are listed, apart from their store. All without it. */
  isListed?: Sql;
  /** Adds to rows what `matches` and `textBytes` need of their stores. */
  withStores(rows: Sql, conditions: Conditions): Sql;
  /** Whether such a row and its store fit the filter. */
  matches(conditions: Conditions): Sql;
  /** What reading the texts of a row costs, as bytes of text. */
  textBytes: Sql;
  /** Which stores exist for readers. */
  storeExists: Sql;
  /** Selects what the caller needs of the rows of `page`, with `id` and `createdAt`. */
  select: Sql;
}

/** What to search for. */
export interface SearchFilter extends PageRequest {
  /** A text that rows contain; empty for all. */
  q: string;
  /** Rows of stores of this category. */
  categoryId: number | undefined;
  /** Rows of stores that have each word of it among their `region_keys`; empty for all. */
  region: string;
  /** The id of the store whose rows are listed, from an index of each store in order. */
  ofStore?: Sql | undefined;
  /** Rows of stores around a place, the nearest first. */
  near?: Near | undefined;
}

/** What one statement may examine. A text of 10 kB costs as much as a hundred short ones; the last row may go beyond the bytes. */
export interface Budget {
  rows: number;
  textBytes: number;
  /** Whether no other source follows a scan with it. */
  isLast?: boolean;
}

/** What the scans of one request may examine: `first` is enough for a page that every twentieth row matches. */
export const scanBudgets: Record<'first' | 'most', Budget> = {
  first: { rows: 500, textBytes: 1_000_000 },
  most: { rows: 5_000, textBytes: 2_000_000, isLast: true },
};

/** How many stores of a category or region are looked at one by one. */
const maxStores = 2_000;
/** One row of so many is in the sample index; as in the migrations. */
const sampledOf = 503;
/** How many rows of the sample have the keys of a text or region that counts as rare. */
const maxSampled = Math.floor(scanBudgets.most.rows / sampledOf);
/** How many keys of a text are looked up: of a longer text every second, third and so on. More cost more than they leave out. */
const maxKeys = 5;

/** Rows to examine, in the order of the list; around a place, each with its `distance`. */
export interface Source {
  /** Common table expressions before the others. */
  expressions: Sql[];
  rows: Sql;
  /** False where rows were left out, because there would be too many. */
  isUsable: Sql;
  budget: Budget;
}

/** Walks an ordered index, of the whole list, of one store or around a place. */
export function scan(list: SearchableList, filter: SearchFilter, budget: Budget): Source {
  const { near } = filter;
  if (near !== undefined) return scanAround(list, { ...filter, near }, budget);
  const isOfStore = filter.ofStore === undefined ? [] : [sql`${list.storeId} = ${filter.ofStore}`];
  const rows = sql`
    SELECT item.* FROM ${raw(list.table)} item WHERE ${allOf([rowsAfter(list, filter), ...isOfStore])}
    ${newestFirst} LIMIT ${constant(budget.rows)}`;
  return { expressions: [], rows, isUsable: sql`true`, budget };
}

/**
 * The lookups that may find all rows: each says by `rare` whether it reads them, and then has those to examine in `candidate`.
 *
 * A GIN index reads the entries of all rows that have one of the keys. So it is asked only where a sample says that few rows
 * have all of them. The rows of a category, of a region and of stores with a text are read store by store, where these are few.
 */
export function lookupsOf(list: SearchableList, filter: SearchFilter, budget: Budget): Source[] {
  const { q, categoryId, region, ofStore, near } = filter;
  const table = raw(list.table);
  const most = constant(budget.rows + 1);
  const candidates = (rows: Sql) =>
    sql`SELECT item.id, item.created_at, ${list.storeId} AS store_id FROM ${rows} AND ${rowsAfter(list, filter)} LIMIT ${most}`;
  // As in `rowOf`: read store by store.
  const ofStores = candidates(sql`${table} item WHERE ${list.storeId} = link.store_id`);
  const ofLinkedStores = sql`
    SELECT item.* FROM link CROSS JOIN LATERAL (${ofStores}) item WHERE EXISTS (SELECT FROM rare) LIMIT ${most}`;
  const lookup = (...expressions: Sql[]): Source => {
    const isUsable = sql`EXISTS (SELECT FROM rare) AND (SELECT count(*) < ${most} FROM candidate)`;
    if (near !== undefined) {
      const placed = sql`
        SELECT candidate.id, place FROM candidate CROSS JOIN LATERAL (
          SELECT ${storePlace} AS place FROM stores s
          WHERE s.id = candidate.store_id AND ${list.storeExists} AND s.latitude IS NOT NULL LIMIT 1
        ) store WHERE ${isUsable}`;
      const rows = inOrder(withDistance(placed, near, filter), list, filter, budget);
      return { expressions, rows, isUsable, budget };
    }
    const rows = sql`
      SELECT item.* FROM (SELECT * FROM candidate WHERE ${isUsable} ${newestFirst}) candidate
      JOIN ${rowOf(list, 'candidate')} USING (id, created_at)`;
    return { expressions, rows, isUsable, budget };
  };
  const lookups: Source[] = [];
  if (q !== '') {
    const withKeys = (keys: Sql) =>
      sql`${table} item WHERE ${list.exists} AND search_keys(item.search_text) @> (SELECT keys FROM ${keys})`;
    const byItem = candidates(withKeys(sql`rare`));
    const isRare = isRareInSample(withKeys(sql`part`), sql`item.id`);
    lookups.push(
      list.table === 'stores'
        ? lookup(
            keysOf(q),
            sql`rare AS (SELECT keys FROM part WHERE ${isRare})`,
            sql`candidate AS (${byItem})`,
          )
        : lookup(
            keysOf(q),
            linkedStores(list, sql`search_keys(s.search_text)`, isRare),
            sql`candidate AS ((${byItem}) UNION (${ofLinkedStores}))`,
          ),
    );
  }
  if (ofStore !== undefined) return lookups;
  if (region !== '') {
    const part = sql`part AS (SELECT region_words(${region}::text) AS keys)`;
    const stores = linkedStores(list, sql`s.region_keys`, sql`true`);
    lookups.push(lookup(part, stores, sql`candidate AS (${ofLinkedStores})`));
  }
  if (categoryId !== undefined) {
    const stores = sql`
      link AS (
        SELECT store_id FROM store_category_links WHERE category_id = ${categoryId}::int LIMIT ${constant(maxStores + 1)}
      ), rare AS (SELECT FROM link HAVING count(*) <= ${constant(maxStores)})`;
    lookups.push(lookup(stores, sql`candidate AS (${ofLinkedStores})`));
  }
  return lookups;
}

/** The keys of a text to look up. Its pairs come first; a single character has none. */
function keysOf(q: string): Sql {
  return sql`part AS (
    SELECT ARRAY(SELECT keys[place] FROM generate_series(1, pairs, 1 + (pairs - 1) / ${constant(maxKeys)}) place) AS keys
    FROM search_key(${q}::text) AS folded, greatest(char_length(folded) - 1, 1) AS pairs, search_keys(folded) AS keys)`;
}

/** The stores that have the keys of `part`, where these are few and `isRare` is true. */
function linkedStores({ storeExists }: SearchableList, keysOfStore: Sql, isRare: Sql): Sql {
  const withKeys = (keys: Sql) =>
    sql`stores s WHERE ${storeExists} AND ${keysOfStore} @> (SELECT keys FROM ${keys})`;
  return sql`
    few AS (SELECT keys FROM part WHERE ${isRare} AND ${isRareInSample(withKeys(sql`part`), sql`s.id`)}),
    link AS (SELECT s.id AS store_id FROM ${withKeys(sql`few`)} LIMIT ${constant(maxStores + 1)}),
    rare AS (SELECT keys FROM few WHERE (SELECT count(*) <= ${constant(maxStores)} FROM link))`;
}

function isRareInSample(rows: Sql, id: Sql): Sql {
  return sql`(
    SELECT count(*) <= ${constant(maxSampled)} FROM (
      SELECT FROM ${rows} AND ${id} % ${constant(sampledOf)} = 0 LIMIT ${constant(maxSampled + 1)}) sampled)`;
}

/** Which rows to read from the position of a page on; around a place all, because their distances are not known yet. */
function rowsAfter({ exists, isExamined = sql`true` }: SearchableList, { after, near }: SearchFilter): Sql {
  if (near !== undefined) return sql`${exists} AND ${isExamined}`;
  return sql`${exists} AND ${isExamined} AND (item.created_at, item.id) < (${afterTime(after)}, ${afterId(after)})`;
}

type Conditions = ReturnType<typeof conditionsOf>;
/** The conditions of a filter; true where it does not have them, so that a statement has one text, whatever the filter is. */
export function conditionsOf({ q, region, categoryId }: SearchFilter) {
  const category = sql`${categoryId ?? null}::int`;
  // The subqueries make PostgreSQL compute the key of a text and the words of a region once instead of once a row.
  const position = (text: Sql) => sql`position((SELECT search_key(${q}::text)) IN ${text}) > 0`;
  return {
    contains: (...texts: Sql[]) => sql`(${q}::text = '' OR ${join(texts.map(position), ' OR ')})`,
    isInRegion: (keys: Sql) =>
      sql`(${region}::text = '' OR ${keys} @> (SELECT region_words(${region}::text)))`,
    // False instead of NULL, so that the conditions after it are not evaluated.
    hasCategory: (storeId: Sql) => sql`(${category} IS NULL OR (
      SELECT true FROM store_category_links WHERE store_id = ${storeId} AND category_id = ${category}) IS NOT NULL)`,
  };
}
