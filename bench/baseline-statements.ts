/** A statement that PostgreSQL keeps under its name. */
export interface Statement {
  name: string;
  text: string;
}

/** The user `u` of the live session with the id $1. */
const session = `sessions c JOIN users u ON u.id = c.user_id AND u.suspended_at IS NULL
  AND c.id = $1 AND c.expires_at > now()`;

/** The unread notifications of the user. */
const unread = `SELECT count(*)::int AS unread_count FROM unread_notifications n WHERE n.user_id = u.id`;

/** A request with its notification. @param result what the statement finds besides the request */
const createRequest = (result: string) => `
  WITH created AS (
    INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, message)
    SELECT p.id, own.id, p.store_id, $3
    FROM ${session}
    JOIN stores own ON own.owner_id = u.id AND own.closed_at IS NULL AND own.suspended_at IS NULL
    JOIN posts p ON p.id = $2 AND p.is_visible
    ON CONFLICT (sender_store_id, post_id) WHERE status IN ('requested', 'accepted') DO NOTHING
    RETURNING *
  ), counted AS (
    INSERT INTO notification_counts AS c (user_id, unread)
    SELECT v.owner_id, 1
    FROM created r JOIN stores v ON v.id = r.receiver_store_id AND v.closed_at IS NULL AND v.suspended_at IS NULL
    ON CONFLICT (user_id) DO UPDATE SET unread = c.unread + 1 RETURNING user_id
  ), notified AS (
    INSERT INTO unread_notifications (user_id, kind, partner_request_id, created_at)
    SELECT c.user_id, 'partner_request_received', r.id, clock_timestamp() FROM created r, counted c
    RETURNING id, user_id, partner_request_id
  )
  SELECT 'sent' AS box, r.id, r.post_id AS "postId", r.status::text, r.message, r.created_at AS "createdAt",
    r.updated_at AS "updatedAt", p.title AS "postTitle", r.receiver_store_id AS "receiverStoreId",
    v.name AS "receiverStoreName" ${result}
  FROM created r JOIN notified n ON n.partner_request_id = r.id JOIN stores v ON v.id = r.receiver_store_id
  JOIN posts p ON p.id = r.post_id`;

/** The work of each route in one statement with the check of the session; a login needs two, as a hash is checked between them. */
export const statements = {
  me: { name: 'me', text: `SELECT u.id, u.username, u.name, u.email, u.role, u.is_verified FROM ${session}` },
  unreadCount: { name: 'unread-count', text: `SELECT (${unread}) AS unread_count FROM ${session}` },
  notifications: {
    name: 'notifications',
    text: `
      SELECT counted.unread_count, page.*
      FROM ${session}
      CROSS JOIN LATERAL (${unread}) counted
      LEFT JOIN LATERAL (
        SELECT n.id, n.kind, n.is_read AS "isRead", n.created_at AS "createdAt", r.id AS "requestId", r.post_id AS "postId",
          p.title AS "postTitle", r.status, r.message, r.sender_store_id AS "senderStoreId", s.name AS "senderStoreName",
          r.receiver_store_id AS "receiverStoreId", v.name AS "receiverStoreName",
          coalesce(s.owner_id = n.user_id, false) AS "toSender"
        FROM (SELECT * FROM notifications WHERE user_id = u.id ORDER BY id DESC LIMIT 21) n
        JOIN partner_requests r ON r.id = n.partner_request_id
        JOIN posts p ON p.id = r.post_id
        JOIN stores s ON s.id = r.sender_store_id
        JOIN stores v ON v.id = r.receiver_store_id
      ) page ON true
      ORDER BY page.id DESC`,
  },
  myPage: {
    name: 'my-page',
    text: `
      SELECT
        CASE WHEN s.id IS NOT NULL THEN json_build_object('id', s.id, 'name', s.name, 'store_categories', (
          SELECT json_agg(json_build_object('id', g.id, 'name', g.name) ORDER BY l.position)
          FROM store_category_links l JOIN store_categories g ON g.id = l.category_id WHERE l.store_id = s.id)) END AS store,
        (SELECT coalesce(json_agg(json_build_object(
            'id', p.id, 'title', p.title, 'firstImage', p.images[1], 'createdAt', p.created_at)), '[]')
          FROM (SELECT id, title, images, created_at FROM posts WHERE store_id = s.id AND is_visible
                ORDER BY created_at DESC, id DESC LIMIT 100) p) AS posts,
        (SELECT coalesce(json_agg(json_build_object(
            'box', 'sent', 'id', r.id, 'postId', r.post_id, 'status', r.status, 'message', r.message,
            'createdAt', r.created_at, 'updatedAt', r.updated_at, 'receiverStoreId', r.receiver_store_id,
            'postTitle', (SELECT title FROM posts p WHERE p.id = r.post_id),
            'receiverStoreName', (SELECT name FROM stores v WHERE v.id = r.receiver_store_id))), '[]')
          FROM (SELECT * FROM partner_requests WHERE sender_store_id = s.id
                ORDER BY created_at DESC, id DESC LIMIT 100) r) AS "sentRequests"
      FROM ${session}
      LEFT JOIN stores s ON s.owner_id = u.id AND s.closed_at IS NULL AND s.suspended_at IS NULL`,
  },
  createRequest: { name: 'create-request', text: createRequest('') },
  createRequestWithMail: {
    name: 'create-request-with-mail',
    text: createRequest(`,
      pg_notify('notifications', json_build_object('user_id', n.user_id)::text)::text,
      (graphile_worker.add_job('send_mail', payload => json_build_object(
        'kind', 'partner_request_received', 'request_id', r.id, 'user_id', n.user_id,
        'idempotency_key', gen_random_uuid()), max_attempts => 25)).id AS job`),
  },
  refresh: {
    name: 'refresh',
    text: `
      UPDATE sessions c SET refresh_count = c.refresh_count + 1, rotated_at = ARRAY[clock_timestamp()],
        last_used_at = clock_timestamp(),
        expires_at = least(clock_timestamp() + interval '14 days', c.created_at + interval '90 days')
      FROM users u
      WHERE u.id = c.user_id AND u.suspended_at IS NULL AND c.id = $1 AND c.expires_at > now() AND c.refresh_count = $2
      RETURNING c.refresh_count AS count, extract(epoch FROM c.expires_at - clock_timestamp())::float8 AS lifetime`,
  },
  findForLogin: {
    name: 'find-for-login',
    text: `SELECT id, username, name, email, role, is_verified, password_hash FROM users
      WHERE username = $1 OR email = $1`,
  },
  logIn: {
    name: 'log-in',
    text: `
      WITH changed AS (
        UPDATE users SET last_login_at = now() WHERE id = $1 AND password_hash = $2 AND suspended_at IS NULL RETURNING id
      ), known AS (
        INSERT INTO known_addresses (user_id, address) SELECT id, $3 FROM changed
        ON CONFLICT (user_id, address) DO UPDATE SET last_used_at = now()
      )
      INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
      SELECT gen_random_uuid(), id, '{}', '', $3, now() + interval '14 days' FROM changed RETURNING id`,
  },
} satisfies Record<string, Statement>;
