-- Allow drop-used: the release before only searches slower without them, and with them the indexes would go on growing.
-- Allow require-concurrent-index-deletion: the lock lasts for milliseconds, and the runner tries for one second only.
DROP INDEX "posts_search_idx", "posts_search_sample_idx";
