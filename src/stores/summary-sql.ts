/** SQL: the categories of the store `s`, in the order its owner gave. */
export const storeCategoriesSql = `
  coalesce((
    SELECT json_agg(json_build_object('id', c.id, 'name', c.name) ORDER BY l.position)
    FROM store_category_links l JOIN store_categories c ON c.id = l.category_id
    WHERE l.store_id = s.id), '[]')`;

/** SQL: the store `s` as a StoreSummary; for the queries of every domain that shows stores in short. */
export const storeSummarySql = `
  json_build_object('id', s.id, 'name', s.name, 'store_categories', ${storeCategoriesSql})`;
