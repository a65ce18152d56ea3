import type { PageRequest } from '../keyset.ts';
import { raw, type Sql, sql } from '../sql.ts';
import { keysetPageSql, rowsAfter } from './keyset-page.ts';

/*
 * The two searchable lists, stores and posts, are filtered by text and by the category of the store. Text search needs no
 * extension: `search_grams` gives the characters and pairs of neighbouring characters of a text, a GIN index finds the rows
 * that have all pairs of the query, and `position` decides whether they stand together. The functions are in the migrations.
 */

/** A list that can be searched. */
export interface SearchableList {
  table: 'posts' | 'stores';
  /** The column of the table that holds the store's id. */
  storeColumn: 'id' | 'store_id';
  /** Which rows exist for readers, as in the partial indexes of the table. */
  baseFilter: Sql;
  /** The text that is searched, with its case folded, as in the GIN index of the table. */
  foldedText: Sql;
}

/** What to search for. */
export interface SearchFilter extends PageRequest {
  /** A text that rows contain; empty for all. */
  q: string;
  /** Rows of stores of this category. */
  categoryId: number | undefined;
  /** Rows of one store, which are read through the ordered index of that store. */
  ofOneStore?: readonly Sql[];
  /** Further conditions on rows, which must be cheap. */
  conditions?: readonly Sql[];
}

/** Categories with at most so many stores are read store by store. */
const rareCategoryStores = 500;

/** Selects the ids of one page of a searchable list; see {@link keysetPageSql}. */
export function searchPageSql(list: SearchableList, filter: SearchFilter): Sql {
  const { q, categoryId, ofOneStore = [], conditions = [] } = filter;
  const storeId = raw(`item.${list.storeColumn}`);
  return keysetPageSql(
    {
      ...list,
      conditions: [
        ...ofOneStore,
        ...(q === '' ? [] : [containsText(list.foldedText, q)]),
        ...(categoryId === undefined ? [] : [isOfCategory(storeId, categoryId)]),
        ...conditions,
      ],
      indexPaths: ofOneStore.length > 0 ? [] : indexPathsOf(list, filter),
    },
    filter,
  );
}

function indexPathsOf(list: SearchableList, { q, categoryId, after }: SearchFilter): Sql[] {
  const rowFilter = rowsAfter(list.baseFilter, after);
  const byText = (precondition: Sql) => sql`
    SELECT item.* FROM ${raw(list.table)} item
    WHERE ${precondition} AND ${hasGramsOf(list.foldedText, q)} AND ${rowFilter}`;
  // From the stores of the category to their rows; `OFFSET 0` keeps that order.
  const byCategory = (precondition: Sql) => sql`
    SELECT item.*
    FROM (
      SELECT store_id FROM store_category_links WHERE ${precondition} AND category_id = ${categoryId}::int OFFSET 0
    ) link
    CROSS JOIN LATERAL (
      SELECT * FROM ${raw(list.table)} item
      WHERE ${raw(`item.${list.storeColumn}`)} = link.store_id AND ${rowFilter} OFFSET 0
    ) item`;
  if (categoryId === undefined) return q === '' ? [] : [byText(sql`true`)];
  if (q === '') return [byCategory(sql`true`)];
  const isRare = isRareCategory(categoryId);
  return [byCategory(isRare), byText(sql`NOT ${isRare}`)];
}

/** True where a folded text contains a text. The subquery makes PostgreSQL fold the query once instead of once a row. */
function containsText(foldedText: Sql, q: string): Sql {
  return sql`position((SELECT search_fold(${q}::text)) IN ${foldedText}) > 0`;
}

/** True where a folded text has every pair of neighbouring characters of a text, or its only character. */
function hasGramsOf(foldedText: Sql, q: string): Sql {
  return sql`(search_grams(${foldedText}) COLLATE "C") @> (
    SELECT array_agg(gram) FROM unnest(search_grams(search_fold(${q}::text))) AS gram
    WHERE char_length(gram) = least(2, char_length(search_fold(${q}::text))))`;
}

/** A scalar subquery, because the planner may answer EXISTS by reading all links. */
function isOfCategory(storeId: Sql, id: number): Sql {
  return sql`(SELECT true FROM store_category_links WHERE store_id = ${storeId} AND category_id = ${id}::int)`;
}

function isRareCategory(id: number): Sql {
  return sql`(
    SELECT count(*) <= ${raw(String(rareCategoryStores))}
    FROM (
      SELECT FROM store_category_links WHERE category_id = ${id}::int LIMIT ${raw(String(rareCategoryStores + 1))}
    ) link)`;
}
