import jwt from '@fastify/jwt';
import argon2 from 'argon2';
import fastify from 'fastify';
import type pg from 'pg';
import { createTokens, jwtOptions } from '../src/domains/auth/tokens.ts';
import { toSecrets } from '../src/infrastructure/config/keys.ts';
import { int8AsNumber } from '../src/infrastructure/database/client.ts';
import { withClient } from '../src/infrastructure/database/connection.ts';
import { production } from '../test/support/service.ts';

/*
 * The rows that the workloads read and write: users with a store and a post each, of whom some have much.
 */

/** The password of all users. */
export const password = 'gimbap-and-coffee-7';

/** The first users, one for each connection, have 10 posts, 10 sent requests and 3,000 notifications, of which 200 are unread. */
export const busyUsers = 32;

const statements: string[] = [
  `INSERT INTO users (username, email, name, password_hash, is_verified)
   SELECT 'bench' || n, 'bench' || n || '@example.com', '김두레', $1, true FROM generate_series(1, 2000) n`,
  `INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
   SELECT gen_random_uuid(), id, '{}', 'bench', '127.0.0.1', now() + interval '1 day'
   FROM users, generate_series(1, 3) ORDER BY id`,
  `WITH made AS (
     INSERT INTO stores (owner_id, name, description)
     SELECT id, '두레 가게 ' || id, '함께 일할 이웃을 찾습니다.' FROM users ORDER BY id RETURNING id)
   INSERT INTO store_category_links (store_id, category_id, position)
   SELECT made.id, c.id, 1 FROM made, (SELECT min(id) AS id FROM store_categories) c`,
  `INSERT INTO posts (store_id, title, content, images, created_at)
   SELECT id, '같이 팝업 열 가게를 찾아요 ' || n, '주말 이틀 동안 함께할 이웃 가게를 찾습니다.',
     ARRAY['https://cdn.example.com/popup.jpg'], now() - n * interval '1 hour'
   FROM stores, generate_series(1, 10) n
   WHERE n = 1 OR id IN (SELECT id FROM stores ORDER BY owner_id LIMIT ${busyUsers})`,
  // 1,000 requests to each busy store, of stores that send no others.
  `INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message, created_at)
   SELECT p.id, sender.id, p.store_id, 'declined', '함께 해요! 저희 빵을 카페에서 함께 팔아 보시겠어요?',
     now() - interval '2 hours' - sender.place * interval '1 second'
   FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS place FROM stores ORDER BY id DESC LIMIT 100) sender,
     posts p WHERE p.store_id IN (SELECT id FROM stores ORDER BY owner_id LIMIT ${busyUsers})`,
  // 10 requests of each busy store, to the post of somebody else.
  `INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message, created_at)
   SELECT p.id, sender.id, p.store_id, 'requested', '함께 해요!', now() - p.id * interval '1 minute'
   FROM (SELECT id FROM stores ORDER BY owner_id LIMIT ${busyUsers}) sender,
     (SELECT id, store_id FROM posts ORDER BY store_id DESC LIMIT 10) p`,
  `INSERT INTO notification_counts (user_id, unread)
   SELECT id, CASE WHEN id IN (SELECT id FROM users ORDER BY id LIMIT ${busyUsers}) THEN 200 ELSE 0 END FROM users`,
  // The newest 200 of each are unread.
  `INSERT INTO notifications (user_id, kind, partner_request_id, created_at, is_read)
   SELECT s.owner_id, 'partner_request_received', r.id, r.created_at,
     row_number() OVER (PARTITION BY s.owner_id ORDER BY n DESC, r.id DESC) > 200
   FROM generate_series(0, 2) n, partner_requests r JOIN stores s ON s.id = r.receiver_store_id
   WHERE r.status = 'declined' ORDER BY s.owner_id, n, r.id`,
];

/** Runs work with a connection on which 64-bit numbers are numbers. */
export const withConnection = <Result>(url: string, work: (client: pg.Client) => Promise<Result>) =>
  withClient({ connectionString: url, types: int8AsNumber }, work);

/** Fills a migrated, empty database. The password hashes have the default cost. */
export async function createData(url: string): Promise<void> {
  const options = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };
  const hash = await argon2.hash(password, options);
  await withConnection(url, async (client) => {
    for (const statement of statements) await client.query(statement, statement.includes('$1') ? [hash] : []);
    await client.query('VACUUM ANALYZE');
  });
}

/** A user with a session. */
export interface BenchUser {
  id: number;
  username: string;
  /** The oldest post; none of a user without a store. */
  postId: number | null;
  sessionId: string;
  access: string;
}

/** Users in the order of their ids, each with a session. */
export function readUsers(url: string): Promise<BenchUser[]> {
  return withConnection(url, async (client) => {
    const { rows } = await client.query<Omit<BenchUser, 'access'>>(`
      SELECT u.id, u.username, (SELECT min(p.id) FROM posts p JOIN stores s ON s.id = p.store_id WHERE s.owner_id = u.id) AS "postId",
        (SELECT s.id FROM sessions s WHERE s.user_id = u.id ORDER BY s.created_at LIMIT 1) AS "sessionId"
      FROM users u ORDER BY u.id`);
    return rows.map((user) => ({ ...user, access: sign('access', user.id, user.sessionId) }));
  });
}

/** Begins a session for each of some users. @returns their refresh tokens */
export function beginSessions(url: string, users: BenchUser[]): Promise<string[]> {
  return withConnection(url, async (client) => {
    const { rows } = await client.query<{ id: string; user_id: number }>(
      `INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
       SELECT gen_random_uuid(), user_id, '{}', 'bench', '127.0.0.1', now() + interval '1 day'
       FROM unnest($1::int[]) user_id RETURNING id, user_id`,
      [users.map(({ id }) => id)],
    );
    return rows.map(({ id, user_id }) => sign('refresh', user_id, id));
  });
}

/** How often requests were added to each database. */
const additions = new Map<string, number>();

export interface PendingRequest {
  id: number;
  receiverId: number;
  notificationId: number;
}

/** Adds ten pending requests to the post of each user but the busy ones, of other stores each time, with their notifications. */
export function addPendingRequests(url: string): Promise<PendingRequest[]> {
  const turn = additions.get(url) ?? 0;
  additions.set(url, turn + 1);
  return withConnection(url, async (client) => {
    const { rows } = await client.query<PendingRequest>(
      `WITH store AS (
         SELECT id, owner_id, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS count FROM stores
         WHERE owner_id IN (SELECT id FROM users WHERE username LIKE 'bench%' ORDER BY id OFFSET ${busyUsers})
       ), sent AS (
         INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, message)
         SELECT (SELECT min(id) FROM posts WHERE store_id = receiver.id), sender.id, receiver.id, '함께 해요!'
         FROM store receiver CROSS JOIN generate_series(1, 10) n
           JOIN store sender ON sender.place = (receiver.place + 100 + 10 * $1 + n) % sender.count
         RETURNING id, receiver_store_id
       ), counted AS (
         UPDATE notification_counts c SET unread = unread + 10 FROM store s WHERE s.owner_id = c.user_id
       ), notified AS (
         INSERT INTO notifications (user_id, kind, partner_request_id)
         SELECT owner_id, 'partner_request_received', sent.id FROM sent JOIN store ON store.id = receiver_store_id
         RETURNING *
       )
       SELECT partner_request_id AS id, user_id AS "receiverId", id AS "notificationId" FROM notified ORDER BY random()`,
      [turn],
    );
    return rows;
  });
}

const app = fastify();
const secrets = toSecrets(production.JWT_SECRET);
await app.register(jwt, jwtOptions({ secrets }));
/** Signs and verifies tokens as the service does. */
export const tokens = createTokens(app.jwt, { secrets, privateKeys: [], publicUrl: production.PUBLIC_URL });

/** Signs a token for a day. */
const sign = (type: 'access' | 'refresh', userId: number, sessionId: string) =>
  tokens.sign(type, { userId, sessionId, count: 0 }, 86_400);

/** Deletes emails that are still queued, which would be sent while the next thing is measured. */
export async function deleteJobs(url: string): Promise<void> {
  await withConnection(url, async (client) => {
    for (let left: number | null = 1; left; ) {
      await client.query('DELETE FROM graphile_worker._private_jobs WHERE locked_at IS NULL');
      ({ rowCount: left } = await client.query('SELECT FROM graphile_worker._private_jobs LIMIT 1'));
    }
  });
}
