/** The user `u` of the live session with the id $1. */
const session = `sessions c JOIN users u ON u.id = c.user_id AND u.suspended_at IS NULL
  AND c.id = $1 AND c.expires_at > now()`;

const unreadCount =
  'coalesce((SELECT unread FROM notification_counts WHERE user_id = u.id), 0) AS unread_count';

/** A row as JSON without white space, and an array of rows. */
const object = (query: string) => `(SELECT row_to_json(one) FROM (${query}) one)`;
const array = (query: string) => `(SELECT coalesce(array_agg(row_to_json(one)), '{}') FROM (${query}) one)`;
/** The only column is the data of a response. */
const data = (query: string) => `SELECT row_to_json(data)::text FROM (${query}) data`;

const time = (column: string) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const status = `CASE r.status WHEN 'requested' THEN '요청됨' WHEN 'accepted' THEN '수락됨' WHEN 'declined' THEN '거절됨'
  WHEN 'withdrawn' THEN '취소됨' ELSE '종료됨' END`;

/** The columns of a user. */
const user = 'u.id, u.username, u.name, u.email, u.role, u.is_verified';

/** A request `r` to the store `v` for the post `p`, as its sender sees it. */
const sentRequest = `'sent' AS box, r.id, r.post_id, p.title AS post_title, r.receiver_store_id,
  v.name AS receiver_store_name, ${status} AS status, r.message, ${time('r.created_at')} AS created_at,
  ${time('r.updated_at')} AS updated_at`;

/** Rows of notifications as the service reads them: to write their JSON in the form of the API takes PostgreSQL longer than Node. $2 is the user, so that one partition is read. */
const notificationRows = `
  SELECT n.id, n.kind, n.is_read AS "isRead", n.created_at AS "createdAt",
    coalesce(s.owner_id = n.user_id, false) AS "toSender",
    json_build_object('id', r.id, 'post_id', r.post_id, 'post_title', p.title, 'status', r.status,
      'sender_store_id', r.sender_store_id, 'sender_store_name', s.name,
      'receiver_store_id', r.receiver_store_id, 'receiver_store_name', v.name, 'message', r.message) AS request
  FROM (SELECT * FROM notifications WHERE user_id = $2 ORDER BY id DESC LIMIT 21) n
  JOIN partner_requests r ON r.id = n.partner_request_id
  JOIN posts p ON p.id = r.post_id
  JOIN stores s ON s.id = r.sender_store_id
  JOIN stores v ON v.id = r.receiver_store_id
  ORDER BY n.id DESC`;

/**
 * The work of each route in one statement with the check of the session, which PostgreSQL keeps under its name; a login needs two,
 * as a hash is checked between them.
 */
export const statements = {
  me: data(`SELECT ${user} FROM ${session}`),
  unreadCount: data(`SELECT ${unreadCount} FROM ${session}`),
  notifications: `SELECT (SELECT coalesce(json_agg(one), '[]') FROM (${notificationRows}) one), ${unreadCount} FROM ${session} AND u.id = $2`,
  myPage: data(`
      SELECT ${object(
        `SELECT s.id, s.name, ${array(`
          SELECT g.id, g.name FROM store_category_links l JOIN store_categories g ON g.id = l.category_id
          WHERE l.store_id = s.id ORDER BY l.position`)} AS store_categories WHERE s.id IS NOT NULL`,
      )} AS store,
        ${array(`
          SELECT p.id, p.title, p.images[1] AS thumbnail, ${time('p.created_at')} AS created_at
          FROM posts p WHERE p.store_id = s.id AND p.is_visible
          ORDER BY p.created_at DESC, p.id DESC LIMIT 100`)} AS posts,
        ${array(`
          SELECT ${sentRequest} FROM partner_requests r JOIN posts p ON p.id = r.post_id
          JOIN stores v ON v.id = r.receiver_store_id WHERE r.sender_store_id = s.id
          ORDER BY r.created_at DESC, r.id DESC LIMIT 100`)} AS sent_requests
      FROM ${session}
      LEFT JOIN stores s ON s.owner_id = u.id AND s.closed_at IS NULL AND s.suspended_at IS NULL`),
  createRequest: `
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
        INSERT INTO notifications (user_id, kind, partner_request_id, created_at)
        SELECT c.user_id, 'partner_request_received', r.id, clock_timestamp() FROM created r, counted c
        RETURNING id, user_id, partner_request_id
      )
      SELECT row_to_json(data)::text
      FROM created r JOIN notified n ON n.partner_request_id = r.id JOIN stores v ON v.id = r.receiver_store_id
      JOIN posts p ON p.id = r.post_id CROSS JOIN LATERAL (SELECT ${sentRequest}) data`,
  refresh: `
      UPDATE sessions c SET refresh_count = c.refresh_count + 1, rotated_at = ARRAY[clock_timestamp()],
        last_used_at = clock_timestamp(),
        expires_at = least(clock_timestamp() + interval '14 days', c.created_at + interval '90 days')
      FROM users u
      WHERE u.id = c.user_id AND u.suspended_at IS NULL AND c.id = $1 AND c.expires_at > now() AND c.refresh_count = $2
      RETURNING c.refresh_count, floor(extract(epoch FROM c.expires_at - clock_timestamp()))::int`,
  findForLogin: `SELECT u.id, u.password_hash, ${object(`SELECT ${user}`)}::text FROM users u
      WHERE u.username = $1 OR u.email = $1`,
  logIn: `
      WITH changed AS (
        UPDATE users SET last_login_at = now() WHERE id = $1 AND password_hash = $2 AND suspended_at IS NULL RETURNING id
      ), known AS (
        INSERT INTO known_addresses (user_id, address) SELECT id, $3 FROM changed
        ON CONFLICT (user_id, address) DO UPDATE SET last_used_at = now()
      )
      INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
      SELECT gen_random_uuid(), id, '{}', '', $3, now() + interval '14 days' FROM changed RETURNING id`,
};
