import type { SeededPosts } from './posts.ts';
import { inBatches, type SeedRun } from './progress.ts';
import { mix } from './texts.ts';

/** Requests at once; most have two notifications. */
const batchSize = 10_000;
const notificationsPerRequest = 1.94;

/** One in ten requests waits for a response, one in fifty was withdrawn, one in 10,000 is accepted, and as many ended; the others were declined. */
function statusOf(n: number): string {
  const chance = mix(n, 30) % 10_000;
  if (chance < 1_000) return 'requested';
  if (chance < 1_200) return 'withdrawn';
  if (chance === 1_200) return 'accepted';
  return chance === 1_201 ? 'ended' : 'declined';
}

/** One in ten requests comes from the first store, the others from any other than the receiver. */
function senderOf(n: number, receiver: number, stores: number): number {
  if (receiver !== 0 && (stores === 2 || mix(n, 31) % 9 === 0)) return 0;
  const others = receiver === 0 ? stores - 1 : stores - 2;
  const sender = 1 + (mix(n, 32) % others);
  return receiver !== 0 && sender >= receiver ? sender + 1 : sender;
}

/**
 * Adds notifications and the requests that they are about: `received` for the receiver, and when it was answered or withdrawn
 * one for the other side; one in 25 senders found the post by a saved search. The first user has read one in 10,000, every tenth user all, the others four of five.
 */
export async function addRequestsWithNotifications(
  run: SeedRun,
  { stores, posts, total }: { stores: Int32Array; posts: SeededPosts; total: number },
): Promise<void> {
  const { client } = run;
  const { rows: owners } = await client.query<{ owner_id: number }>(
    'SELECT owner_id FROM stores WHERE id = $1',
    [stores[0]],
  );
  const postsPerRequest = (posts.ids.length * notificationsPerRequest) / total;
  let next = 0;
  await inBatches(run, { label: 'notifications with their requests', total }, async (done) => {
    const size = Math.min(batchSize, Math.ceil((total - done) / notificationsPerRequest));
    const numbers = Array.from({ length: size }, (_, index) => next + index);
    next += size;
    const positions = numbers.map((n) => Math.floor(n * postsPerRequest) % posts.ids.length);
    const receivers = positions.map((position) => posts.stores[position] ?? 0);
    const { rows } = await client.query<{ added: number }>(
      // A second open request of a store for one post is left out.
      `WITH request AS (
         INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message, created_at, updated_at)
         SELECT post_id, sender, receiver, status, '저희와 함께해요. ' || n || '번째 인사입니다.', to_timestamp(time), to_timestamp(time)
         FROM unnest($1::int[], $2::bigint[], $3::int[], $4::int[], $5::partner_request_status[], $6::float8[])
           AS row (n, post_id, sender, receiver, status, time)
         ORDER BY n
         ON CONFLICT (sender_store_id, post_id) WHERE status IN ('requested', 'accepted') DO NOTHING
         RETURNING *
       ), added AS MATERIALIZED (
         SELECT nextval('notifications_id_seq') AS id, ordered.* FROM (
           SELECT user_id, kind::notification_kind, request, post, search, r.created_at,
             CASE WHEN user_id = $7 THEN r.id % 10000 = 0 WHEN user_id % 10 = 0 THEN true ELSE r.id % 5 <> 0 END AS is_read
           FROM request r
           JOIN stores sender ON sender.id = r.sender_store_id
           JOIN stores receiver ON receiver.id = r.receiver_store_id
           CROSS JOIN LATERAL (VALUES
             ((SELECT min(id) FROM saved_searches WHERE user_id = sender.owner_id AND r.id % 25 = 0))
           ) found (search_id)
           CROSS JOIN LATERAL (VALUES
             (CASE WHEN search_id IS NOT NULL THEN sender.owner_id END, 'saved_search_match', NULL, r.post_id, search_id),
             (receiver.owner_id, 'partner_request_received', r.id, NULL, NULL),
             (CASE r.status WHEN 'requested' THEN NULL WHEN 'withdrawn' THEN receiver.owner_id ELSE sender.owner_id END,
              'partner_request_' || r.status, r.id, NULL, NULL)
           ) AS recipient (user_id, kind, request, post, search)
           WHERE user_id IS NOT NULL
           ORDER BY r.id
           LIMIT $8
         ) ordered
       ), counted AS (
         INSERT INTO notification_counts AS c (user_id, unread)
         SELECT user_id, count(*) FILTER (WHERE NOT is_read) FROM added GROUP BY user_id
         ON CONFLICT (user_id) DO UPDATE SET unread = c.unread + excluded.unread
       ), inserted AS (
         INSERT INTO notifications (id, user_id, kind, partner_request_id, post_id, saved_search_id, is_read, created_at)
         SELECT id, user_id, kind, request, post, search, is_read, created_at FROM added
       )
       SELECT count(*)::int AS added FROM added`,
      [
        numbers,
        positions.map((position) => posts.ids[position]),
        numbers.map((n, index) => stores[senderOf(n, receivers[index] ?? 0, stores.length)]),
        receivers.map((receiver) => stores[receiver]),
        numbers.map(statusOf),
        // Right after the post, in the order of the ids.
        numbers.map((n) => posts.timeOf((n * postsPerRequest) % posts.ids.length)),
        owners[0]?.owner_id,
        total - done,
      ],
    );
    return rows[0]?.added ?? 0;
  });
}
