/**
 * SQL that is true where a store is of a category. A scalar subquery, and not EXISTS, so that the planner asks for the rows
 * it has and does not read all links.
 *
 * @param storeId SQL of the store's id
 * @param parameter the category's id
 */
export function isOfCategory(storeId: string, parameter: string): string {
  return `(SELECT true FROM store_category_links WHERE store_id = ${storeId} AND category_id = ${parameter})`;
}

/**
 * SQL that is true where a category has few stores, so that going through all of them is cheap.
 *
 * @param parameter the category's id
 */
export function rareCategory(parameter: string): string {
  const most = 500;
  return `(
    SELECT count(*) <= ${most}
    FROM (SELECT FROM store_category_links WHERE category_id = ${parameter} LIMIT ${most + 1}) link)`;
}
