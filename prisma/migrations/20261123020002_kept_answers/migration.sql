-- A migration of its own, because a request in progress locks its key before it writes what the migration before locks.
-- Kept answers get the fields that answers have had since, so that a late retry is answered.
UPDATE "idempotency_keys" SET "body" = jsonb_set("body", '{data}',
  '{"is_mine": true, "my_request_status": null}' || ("body" -> 'data'))
WHERE "scope" LIKE '%:createPost' AND "body" ? 'data';

UPDATE "idempotency_keys" k SET "body" = jsonb_set(k."body", '{data}', jsonb_build_object(
  'post_title', p."title", 'receiver_store_id', r."receiver_store_id", 'updated_at', k."body" #> '{data,created_at}'
) || (k."body" -> 'data'))
FROM "partner_requests" r JOIN "posts" p ON p."id" = r."post_id"
WHERE k."scope" LIKE '%:createPartnerRequest' AND k."body" ? 'data' AND r."id" = (k."body" #>> '{data,id}')::integer;
