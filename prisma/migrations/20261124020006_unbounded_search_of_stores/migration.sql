-- The last two are those of the search in names, which the release before does not use.
-- Allow drop-used: the release before only searches slower without them, and with them the indexes would go on growing.
-- Allow require-concurrent-index-deletion: the lock lasts for milliseconds, and the runner tries for one second only.
DROP INDEX "stores_search_text_idx", "stores_search_text_sample_idx", "stores_search_idx", "stores_search_sample_idx";
