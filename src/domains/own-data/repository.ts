import type { Tx } from '../../infrastructure/database/client.ts';
import { MailTopic } from '../../infrastructure/database/generated/enums.ts';
import { constant, empty, join, raw, type Sql, sql } from '../../infrastructure/database/sql.ts';
import type { ImageUrls } from '../images/index.ts';
import { isOpenPost, partnerRequestStatuses } from '../posts/index.ts';
import { storeCategoriesSql } from '../stores/index.ts';

/** A row as it is written: columns have the names of the API. */
export type Row = Record<string, unknown>;

/** A part of the file: the rows of a user in one table. */
export interface Section {
  description: string;
  /** A query whose last clause is its condition. */
  rows(userId: number): Sql;
  /** By which columns rows are paged, those of an index, and how many are read at once: at most 250 kB. None where they are few. */
  pages?: { key: string[]; size: number };
  /** Whether there is at most one row, which is written as an object or null. */
  isSingle?: true;
  present?(row: Row, imageUrls: ImageUrls): Row;
}

const byTime = (size: number) => ({ key: ['created_at', 'id'], size });
const ownStore = (userId: number) => sql`(SELECT id FROM stores WHERE owner_id = ${userId})`;

const own =
  (table: string, columns: string, owner = 'user_id') =>
  (userId: number) =>
    sql`SELECT ${raw(columns)} FROM ${raw(table)} WHERE ${raw(owner)} = ${userId}`;

const switches = (muted: Sql) => sql`
  (SELECT jsonb_object_agg(topic, topic <> ALL (${muted})) FROM unnest(${Object.values(MailTopic)}::mail_topic[]) topic)`;

/** Two sections, because visible posts and others are in different indexes. */
const posts = (description: string, isVisible: Sql): Section => ({
  description,
  rows: (userId) => sql`
    SELECT id, title, content, images, CASE WHEN ${isOpenPost('p')} THEN 'open' ELSE 'closed' END AS status,
      closes_on::text, closed_at, hidden_at, deleted_at, created_at, updated_at
    FROM posts p WHERE store_id = ${ownStore(userId)} AND ${isVisible}`,
  pages: byTime(5),
  present: ({ images, ...post }, { url }) => ({
    ...post,
    images: [images].flat().map((stored) => url(String(stored))),
  }),
});

const requests = (description: string, side: 'sender' | 'receiver', other: typeof side): Section => ({
  description,
  rows: (userId) => sql`
    SELECT id, post_id, (SELECT title FROM posts WHERE id = r.post_id) AS post_title,
      ${raw(`${other}_store_id, (SELECT name FROM stores WHERE id = r.${other}_store_id) AS ${other}_store_name`)},
      ${JSON.stringify(partnerRequestStatuses)}::jsonb ->> status::text AS status, message, created_at, updated_at
    FROM partner_requests r WHERE ${raw(`${side}_store_id`)} = ${ownStore(userId)}`,
  pages: byTime(50),
});

/** Everything that the service has about a user, but for secrets. A test compares it with the tables of the database. */
export const sections: Record<string, Section> = {
  account: {
    description: 'The account',
    rows: (userId) => sql`
      SELECT id, username, name, email, role, is_verified, password_hash IS NOT NULL AS has_password, created_at, last_login_at
      FROM users WHERE id = ${userId}`,
    isSingle: true,
  },
  preferences: {
    description: 'How the user wants to get emails and push messages',
    rows: (userId) => sql`
      SELECT language, has_chosen_language,
        ${switches(sql`muted_mails`)} AS email, ${switches(sql`muted_pushes`)} AS push,
        CASE WHEN quiet_from IS NOT NULL THEN jsonb_build_object('from', quiet_from, 'to', quiet_to) END AS quiet_hours
      FROM users WHERE id = ${userId}`,
    isSingle: true,
  },
  consents: {
    description: 'What the user agreed to, withdrew and was asked about',
    rows: own('consents', 'id, kind, action, version, address, created_at'),
    pages: { key: ['kind', 'action', 'id'], size: 500 },
  },
  sessions: {
    description: 'Devices that are logged in',
    rows: (userId) => sql`
      SELECT id, user_agent, ip, methods, coalesce(confirmed_at, created_at) AS authenticated_at, created_at, last_used_at,
        expires_at
      FROM sessions WHERE user_id = ${userId}`,
    pages: byTime(200),
  },
  known_addresses: {
    description: 'From which addresses the user logged in lately',
    rows: own('known_addresses', 'address, last_used_at'),
    pages: { key: ['address'], size: 500 },
  },
  email_changes: {
    description: 'Changes of the email address that can be undone',
    rows: own('email_changes', 'old_email, new_email, expires_at'),
  },
  identities: {
    description: 'Accounts at providers with which the user logs in',
    rows: own('identities', 'id, provider, issuer, subject, email, created_at, last_used_at'),
  },
  passkeys: {
    description: 'Passkeys, without their keys',
    rows: own('passkeys', 'id, name, transports, is_synced, created_at, last_used_at'),
  },
  second_factor: {
    description: 'Since when the codes of an app are asked for, and how many recovery codes are left',
    rows: (userId) => sql`
      SELECT confirmed_at AS totp_enabled_at,
        (SELECT count(*) FROM recovery_codes r WHERE r.user_id = f.user_id) AS recovery_codes_left
      FROM second_factors f WHERE user_id = ${userId}`,
    isSingle: true,
  },
  saved_searches: {
    description: 'Searches whose new posts the user is notified of',
    rows: own('saved_searches', 'id, name, q, category_id, region, near, radius_m, created_at'),
  },
  push_subscriptions: {
    description: 'Browsers that get push messages',
    rows: own('push_subscriptions', `id, split_part(endpoint, '/', 3) AS host, user_agent, created_at`),
  },
  store: {
    description: 'The store',
    rows: (userId) => sql`
      SELECT id, name, ${storeCategoriesSql} AS store_categories, description, address, phone_number, business_hours,
        jsonb_build_object('sido', coalesce(sido, ''), 'sigungu', sigungu, 'dong', dong) AS region,
        CASE WHEN latitude IS NOT NULL THEN jsonb_build_object('latitude', latitude, 'longitude', longitude) END AS location,
        show_exact_location, hidden_at, created_at, updated_at
      FROM stores s WHERE owner_id = ${userId}`,
    isSingle: true,
  },
  posts: posts('Posts that others find', sql`is_visible`),
  removed_posts: posts('Posts that were deleted, of which the title is left, or hidden', sql`NOT is_visible`),
  images: {
    description: 'Uploaded pictures',
    rows: (userId) => sql`
      SELECT id, key, width, height, created_at FROM images WHERE user_id = ${userId} AND state = 'ready'`,
    pages: byTime(500),
    present: ({ key, ...image }, { url, thumbnailUrl }) => ({
      ...image,
      url: url(String(key)),
      thumbnail_url: thumbnailUrl(String(key)),
    }),
  },
  sent_requests: requests('Partnership requests that the user sent', 'sender', 'receiver'),
  received_requests: requests('Partnership requests that the user received', 'receiver', 'sender'),
  notifications: {
    description: 'Notifications, read and unread',
    rows: own(
      'notifications',
      'id, kind, is_read, partner_request_id, post_id, saved_search_id, matches, created_at',
    ),
    pages: { key: ['id'], size: 500 },
  },
  reports: {
    description: 'What the user reported',
    rows: own('reports', 'id, post_id, store_id, reason, text, created_at, closed_at', 'reporter_id'),
    pages: byTime(50),
  },
  sent_mails: {
    description: 'When emails of each purpose were sent within the last hour',
    rows: (userId) => sql`
      SELECT purpose, sent_at FROM mail_sends
      WHERE purpose = ANY (enum_range(NULL::mail_purpose)) AND email = (SELECT email FROM users WHERE id = ${userId})`,
  },
  failed_mails: {
    description: 'Emails that could not be sent',
    // Sorted by an expression, because no index has the ids of one user, and that of all ids would be read.
    rows: own('failed_mails', 'id + 0 AS id, kind, reason, attempts, created_at'),
    pages: { key: ['id'], size: 400 },
  },
};

/** Reads a section of a user, one page of rows at a time. */
export async function* readPages(tx: Tx, { rows: select, pages }: Section, userId: number) {
  for (let last: Row | undefined, isFull = true; isFull; ) {
    const rows = await tx.query<Row>(sql`/* own-data.read */
      ${select(userId)} ${pages ? page(pages, last) : empty}`);
    if (rows.length > 0) yield rows;
    isFull = rows.length === pages?.size;
    last = rows.at(-1);
  }
}

/** SQL of the page after a row; of the first one without a row. */
function page({ key, size }: NonNullable<Section['pages']>, last: Row | undefined): Sql {
  const columns = raw(key.join(', '));
  const after = last ? sql`AND (${columns}) > (${join(key.map((name) => last[name]))})` : empty;
  return sql`${after} ORDER BY ${columns} LIMIT ${constant(size)}`;
}
