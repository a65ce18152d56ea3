-- Allow enum-value: the release before reads no row of users with it before one of this release wrote it, and then ignores it.
ALTER TYPE "mail_topic" ADD VALUE 'saved_search_match';
-- Allow enum-value: the release before joins notifications to requests, so that it leaves out those of this kind.
ALTER TYPE "notification_kind" ADD VALUE 'saved_search_match';
