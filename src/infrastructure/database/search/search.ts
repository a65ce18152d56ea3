import type { Tx } from '../client.ts';
import type { BoundedPage, PageRequest } from '../keyset.ts';
import { raw, type Sql, sql } from '../sql.ts';
import type { Budget, FilteredList } from './filtered-list.ts';
import { categoryLookupSql, textLookupSql } from './lookup.ts';
import { scanSql } from './scan.ts';

/*
 * The two searchable lists, stores and posts, are filtered by text and by the category of the store. Text search needs no
 * extension: `search_keys` hashes the pairs of neighbouring characters of a text, a GIN index finds the rows that have those of
 * the query, and `position` decides whether they stand together. The texts, and those that are searched for, have neither upper
 * case nor white space. The functions are in the migrations.
 */

/** A list that can be searched. */
export interface SearchableList
  extends Omit<FilteredList, 'searchText' | 'textBytes' | 'textConditions' | 'categoryId' | 'ofStore'> {
  /** Selects what the caller needs of the rows of `page`, with `id` and `created_at`. */
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

/** What the scans of one request may examine. */
interface ScanBudgets {
  /** Before the lookups: enough for a page that every twentieth row matches. */
  first: Budget;
  /** After them. */
  most: Budget;
}

/** Kept by triggers on both tables: the searched fields, in which a query matches within one field only. */
const searchText = raw('item.search_text');

/** A text of 10 kB costs as much as a hundred short ones. */
export const scanBudgets: ScanBudgets = {
  first: { rows: 500, textBytes: 1_000_000 },
  most: { rows: 5_000, textBytes: 2_000_000 },
};

interface ListedRow {
  id: number;
  created_at: Date;
}

interface Outcome {
  is_complete: boolean;
  stopped_time: Date | null;
  stopped_id: number | null;
}

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
export async function findPage<Row extends ListedRow>(
  database: Tx,
  list: SearchableList,
  filter: SearchFilter,
  budgets: ScanBudgets,
): Promise<BoundedPage<Row>> {
  const { q, categoryId, ofStore } = filter;
  const filtered: FilteredList = {
    ...list,
    searchText,
    ...(q === ''
      ? { textConditions: [], textBytes: sql`0` }
      : { textConditions: [contains(searchText, q)], textBytes: sql`octet_length(${searchText})` }),
    categoryId,
    ofStore,
  };
  const scan = (budget: Budget) => run<Row>(database, list, scanSql(filtered, filter, budget));
  const lookups = lookupsOf(filtered, filter);
  if (lookups.length === 0) return scan(budgets.most);
  const first = await scan(budgets.first);
  if (first.stoppedAt === undefined) return first;
  for (const lookup of lookups) {
    const found = await run<Row>(database, list, lookup);
    if (found.isComplete) return found;
  }
  return scan(budgets.most);
}

function lookupsOf(list: FilteredList, filter: SearchFilter): Sql[] {
  const { q, categoryId, ofStore } = filter;
  const byCategory = categoryId !== undefined && ofStore === undefined;
  return [
    ...(q === '' ? [] : [textLookupSql(list, q, filter)]),
    ...(byCategory ? [categoryLookupSql(list, categoryId, filter)] : []),
  ];
}

async function run<Row extends ListedRow>(database: Tx, list: SearchableList, page: Sql) {
  const rows = await database.query<Row & Outcome>(sql`
    WITH ${page}
    SELECT found.*, outcome.* FROM outcome LEFT JOIN (${list.select}) found ON true
    ORDER BY found.created_at DESC, found.id DESC`);
  const [outcome] = rows;
  const { is_complete: isComplete = false, stopped_time: time, stopped_id: id } = outcome ?? {};
  return {
    isComplete,
    // The outcome of an empty page is a row without columns of its own.
    rows: rows.filter((row) => row.id !== null),
    stoppedAt: time && id ? { time: time.getTime(), id: String(id) } : undefined,
  };
}

/** True where a text contains `q`. The subquery makes PostgreSQL compute the key of the query once instead of once a row. */
function contains(text: Sql, q: string): Sql {
  return sql`position((SELECT search_key(${q}::text)) IN ${text}) > 0`;
}
