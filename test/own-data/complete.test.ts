import t from 'tap';
import { sections } from '../../src/domains/own-data/repository.ts';
import { createTestApp, createUser } from '../support/app.ts';

/*
 * Every column of every table that is about users is in the file, or is left out here for a reason. A new table or column fails
 * until it is in one of the two.
 */

const secret = 'a secret, or what a secret is derived from';
const copy = 'follows from what is in the file';
const ofOperators = 'for operators, in their words';
const internal = 'how the service works, and not about the user';

/** Tables that are left out. */
const otherTables: Record<string, string> = {
  email_codes: 'an address and a random id, for minutes',
  email_proofs: 'an address and a random id, for minutes',
  password_resets: 'an address and a random id, for an hour',
  login_flows: 'a login that is not complete, for minutes',
  recovery_codes: secret,
  idempotency_keys: 'responses that repeat what is in the file, for a day',
  outbox: 'what is sent within seconds',
  notification_counts: copy,
  post_images: copy,
  post_alerts: internal,
  daily_counts: 'counts, for a day',
  audit_entries: ofOperators,
};

/** Columns that are left out. */
const otherColumns: Record<string, string> = {
  'users.password_hash': secret,
  'users.needs_reset': 'there is no download before the reset',
  'users.suspended_at': 'a suspended user downloads nothing',
  'users.suspended_reason': ofOperators,
  'users.marketing_asked_at': copy,
  'sessions.refresh_count': secret,
  'sessions.rotated_at': secret,
  'identities.token': secret,
  'passkeys.credential_id': secret,
  'passkeys.public_key': secret,
  'passkeys.counter': secret,
  'second_factors.secret': secret,
  'second_factors.used_steps': secret,
  'email_changes.id': secret,
  'email_changes.key_id': secret,
  'saved_searches.latitude': copy,
  'saved_searches.longitude': copy,
  'saved_searches.q_key': copy,
  'push_subscriptions.p256dh': secret,
  'push_subscriptions.auth': secret,
  'push_subscriptions.session_id': internal,
  'push_subscriptions.failures': internal,
  'push_subscriptions.retry_at': internal,
  'mail_sends.email': copy,
  'mail_sends.updated_at': copy,
  'failed_mails.payload': internal,
  'stores.region_keys': copy,
  'stores.search_text': copy,
  'stores.closed_at': 'set when the account is deleted',
  'stores.suspended_at': copy,
  'store_category_links.store_id': copy,
  'posts.store_id': copy,
  'posts.search_text': copy,
  'posts.is_visible': copy,
  'images.state': 'only pictures that are ready are listed',
  'images.check_after': internal,
  'reports.action': ofOperators,
  'reports.note': ofOperators,
  'reports.closed_by': ofOperators,
  'store_category_links.position': 'the order of the list',
};

/** What the file has of columns that are not in it as they are. */
const shown: Record<string, string> = {
  'users.muted_mails':
    '"email":{"saved_search_match":true,"partner_request_ended":true,"partner_request_answered":false,',
  'users.muted_pushes': '"push":{"saved_search_match":true,"partner_request_ended":false,',
  'users.quiet_from': '"from":"22:15"',
  'users.quiet_to': '"to":"07:45"',
  'sessions.confirmed_at': '"authenticated_at":"2026-03-01T00:00:00.001Z"',
  'second_factors.confirmed_at': '"totp_enabled_at":"2026-03-01T00:00:00.002Z"',
  'stores.sido': '"sido":"서울"',
  'stores.sigungu': '"sigungu":"마포구"',
  'stores.dong': '"dong":"망원동"',
  'stores.latitude': '"latitude":37.556123',
  'stores.longitude': '"longitude":126.901456',
  'store_category_links.category_id': '"store_categories":[{"id":1,"name":"카페"}]',
  'posts.images': '"images":["https://api.example.com/media/ab/cdef0123456789abcdef0123456789.webp"]',
  'images.key': '"url":"https://api.example.com/media/ab/cdef0123456789abcdef0123456789.webp"',
  'posts.closes_on': '"closes_on":"2026-03-04"',
  'push_subscriptions.endpoint': '"host":"push.example.com"',
  'partner_requests.sender_store_id': '"sender_store_id":2',
  'partner_requests.receiver_store_id': '"receiver_store_id":2',
  'partner_requests.status': '"status":"거절됨"',
};

const app = await createTestApp({ WORKER_ENABLED: 'false' });
const user = await createUser(app);

/** A row of each table, with a value of its own in each column. */
await app.pool.query(`
  INSERT INTO users (id, username, email, name) VALUES (1000, 'other', 'other@example.com', 'x');
  INSERT INTO stores (id, owner_id, name) VALUES (2, 1000, '옆집');
  UPDATE users SET language = 'en', has_chosen_language = true, is_verified = true, role = 'admin',
    muted_mails = '{partner_request_answered}', muted_pushes = '{partner_request_ended}', quiet_from = '22:15', quiet_to = '07:45'
  WHERE id = ${user.id};
  INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at, confirmed_at) VALUES
    (gen_random_uuid(), ${user.id}, '{}', 'Browser/1.0', '192.0.2.9', now(), '2026-03-01T00:00:00.001Z');
  INSERT INTO consents (user_id, kind, action, version, address) VALUES (${user.id}, 'marketing', 'given', '2026-01-31', '192.0.2.7');
  INSERT INTO email_changes (id, user_id, old_email, new_email, key_id, expires_at)
    VALUES (gen_random_uuid(), ${user.id}, 'old@example.com', 'new@example.com', 'x', now());
  INSERT INTO identities (user_id, provider, issuer, subject, email, token)
    VALUES (${user.id}, 'kakao', 'https://kauth.example.com', 'subject-1', 'kakao@example.com', 'sealed-token');
  INSERT INTO passkeys (user_id, credential_id, public_key, counter, transports, name, is_synced)
    VALUES (${user.id}, 'credential', 'key', 77, '{hybrid}', '휴대폰', true);
  INSERT INTO second_factors (user_id, secret, confirmed_at) VALUES (${user.id}, 'sealed-secret', '2026-03-01T00:00:00.002Z');
  INSERT INTO recovery_codes (user_id, hash) VALUES (${user.id}, 'recovery-hash');
  INSERT INTO saved_searches (user_id, name, q, category_id, region, near, latitude, longitude, radius_m)
    VALUES (${user.id}, '꽃집', '꽃', 7, '망원동', '37.55,126.9', 37.55, 126.9, 1234);
  INSERT INTO push_subscriptions (user_id, endpoint, p256dh, auth, user_agent)
    VALUES (${user.id}, 'https://push.example.com/sealed-endpoint', 'sealed', 'sealed', 'Phone/1.0');
  INSERT INTO stores (id, owner_id, name, description, address, phone_number, business_hours, sido, sigungu, dong, latitude,
      longitude, show_exact_location, hidden_at)
    VALUES (1, ${user.id}, '두레 카페', '설명', '서울 마포구 망원동 1', '02-123-4567', '9-18', '서울', '마포구', '망원동',
      37.556123, 126.901456, true, now());
  INSERT INTO store_category_links (store_id, category_id, position) VALUES (1, 1, 1), (2, 1, 1);
  INSERT INTO posts (id, store_id, title, content, images, closes_on, closed_at, hidden_at, deleted_at) VALUES
    (1, 1, '글', '내용', '{ab/cdef0123456789abcdef0123456789}', '2026-03-04', now(), NULL, NULL),
    (2, 1, '지운 글', '', '{}', NULL, NULL, now(), now()), (3, 2, '옆집 글', '내용', '{}', NULL, NULL, NULL, NULL);
  INSERT INTO images (id, user_id, key, state, width, height)
    VALUES (1, ${user.id}, 'ab/cdef0123456789abcdef0123456789', 'ready', 1234, 567);
  INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message)
    VALUES (3, 1, 2, 'declined', '함께해요'), (1, 2, 1, 'requested', '저희도요');
  INSERT INTO notification_counts (user_id, unread) VALUES (${user.id}, 1);
  INSERT INTO notifications (user_id, kind, partner_request_id, post_id, saved_search_id, matches, is_read)
    VALUES (${user.id}, 'saved_search_match', 11, 12, 13, 14, false), (${user.id}, 'saved_search_match', 21, 22, 23, 24, true);
  INSERT INTO reports (reporter_id, post_id, reason, text, action, note, closed_by, closed_at) VALUES
    (${user.id}, 3, 'spam', '광고', 'none', 'operators-note', 'admin:1', now());
  INSERT INTO reports (reporter_id, store_id, reason, text) VALUES (${user.id}, 2, 'fraud', '사기');
  INSERT INTO mail_sends (purpose, email, sent_at) VALUES ('notice', '${user.email}', '{2026-03-01T00:00:00.003Z}');
  INSERT INTO failed_mails (user_id, kind, payload, reason, attempts) VALUES (${user.id}, 'user_id', '{}', '550 no', 3)`);

/** The tables that refer to users, directly or not, or that have a column for an address or a user. */
const personalTables = `
  WITH RECURSIVE tables AS (
    SELECT c.oid, c.relname FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  ), personal AS (
    SELECT oid, relname FROM tables WHERE relname = 'users' OR EXISTS (
      SELECT FROM pg_attribute a WHERE a.attrelid = tables.oid AND NOT a.attisdropped
        AND a.attname ~ '(^|_)(user|owner|reporter|store)_id$|email|address|^ip$|^scope$|user_agent|operator')
    UNION SELECT t.oid, t.relname FROM tables t JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = 'f'
      JOIN personal p ON p.oid = k.confrelid
  )
  SELECT relname AS name, ARRAY(
    SELECT attname::text FROM pg_attribute WHERE attrelid = oid AND attnum > 0 AND NOT attisdropped) AS columns
  FROM personal ORDER BY 1`;

/** Which rows of a table are the user's, where its column is not called \`user_id\`. */
const conditions: Record<string, string> = {
  users: 'id = $1',
  stores: 'owner_id = $1',
  posts: 'store_id = 1 AND $1 > 0',
  store_category_links: 'store_id = 1 AND $1 > 0',
  partner_requests: '$1 > 0',
  reports: 'reporter_id = $1',
  mail_sends: 'email = (SELECT email FROM users WHERE id = $1)',
};

/** That it is the user is known. */
const isOwner = (column: string) => /^(user_id|owner_id|reporter_id)$/.test(column);

t.test('every column of every table about users is in the file, or is left out for a reason', async (t) => {
  const response = await app.call('GET', '/auth/me/data/', { token: user.token });
  t.equal(response.status, 200, response.text);
  const { text, body } = response;
  const tables = (await app.pool.query<{ name: string; columns: string[] }>(personalTables)).rows;
  t.ok(tables.length >= 25);
  const known = new Set([...Object.keys(otherColumns), ...Object.keys(shown)]);
  const missing: string[] = [];
  for (const { name, columns } of tables.filter((table) => !(table.name in otherTables))) {
    const from = new RegExp(`(FROM|JOIN) ${name}\\b`);
    const rows = Object.entries(sections)
      .filter(([, section]) => from.test(section.rows(1).text))
      .flatMap(([section]): Record<string, unknown>[] => body[section] ?? []);
    const ofUser = conditions[name] ?? 'user_id = $1';
    const stored = (await app.pool.query(`SELECT * FROM ${name} WHERE ${ofUser}`, [user.id])).rows;
    for (const column of columns.filter((one) => !isOwner(one))) {
      const place = `${name}.${column}`;
      if (shown[place] !== undefined && !text.includes(shown[place]))
        missing.push(`${place}: ${shown[place]}`);
      if (known.delete(place)) continue;
      const values = stored.map((row) => JSON.stringify(row[column])).filter((value) => value !== 'null');
      if (values.length === 0) missing.push(`${place}: no row has a value`);
      const isThere = (value: string) => rows.some((row) => JSON.stringify(row[column]) === value);
      missing.push(...values.filter((value) => !isThere(value)).map((value) => `${place}: ${value}`));
    }
  }
  t.strictSame(missing, []);
  t.strictSame([...known], [], 'every exception is a column');
  const names = tables.map(({ name }) => name);
  const unknown = Object.keys(otherTables).filter((name) => !names.includes(name));
  t.strictSame(unknown, [], 'and a table');
  for (const hidden of 'sealed argon2 recovery-hash operators-note credential other@example.com'.split(' '))
    t.notOk(text.includes(hidden), hidden);
});
