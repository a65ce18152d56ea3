-- Entries are added one by one again, so that no search has to read those that wait.
ALTER INDEX "posts_search_idx" SET (fastupdate = off);
ALTER INDEX "posts_search_sample_idx" SET (fastupdate = off);
ALTER INDEX "stores_search_text_idx" SET (fastupdate = off);
ALTER INDEX "stores_search_text_sample_idx" SET (fastupdate = off);
ALTER INDEX "posts_search_idx" RESET (gin_pending_list_limit);
ALTER INDEX "posts_search_sample_idx" RESET (gin_pending_list_limit);
ALTER INDEX "stores_search_text_idx" RESET (gin_pending_list_limit);
ALTER INDEX "stores_search_text_sample_idx" RESET (gin_pending_list_limit);

SELECT gin_clean_pending_list(index) FROM unnest(ARRAY[
  'posts_search_idx', 'posts_search_sample_idx', 'stores_search_text_idx', 'stores_search_text_sample_idx'
]::regclass[]) AS index;
