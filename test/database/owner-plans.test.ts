import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { createSessionRepository } from '../../src/domains/auth/sessions/repository.ts';
import { createMyPageRepository } from '../../src/domains/my-page/repository.ts';
import { createMatchRepository } from '../../src/domains/notifications/inbox/match-repository.ts';
import { createNotificationRepository } from '../../src/domains/notifications/inbox/repository.ts';
import { createOwnDataRepository, sections } from '../../src/domains/own-data/repository.ts';
import { createPartnerRequestChanges } from '../../src/domains/partner-requests/repository/changes.ts';
import {
  createPartnerRequestReader,
  partnerBudget,
} from '../../src/domains/partner-requests/repository/requests.ts';
import { loadConfig } from '../../src/infrastructure/config/config.ts';
import { createTestApp } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import { explainingDatabase, idleOutbox, mailQueue } from '../support/plans.ts';

/*
 * What a list or count reads when one user has most of the rows: the page and nothing else. Without one of its indexes a
 * statement here reads thousands of pages.
 */

const app = await createTestApp({}, { isolated: true });
const { pool } = app;

const stores = 1_500;
/** Rows of the first user, and of the second one; those of others lie between them. */
const many = 3_000;
const page = 21;
/**
 * Rows of all tables that a page of any list needs: my-page has a hundred posts and requests, each of a post and a store; of
 * partners as many requests are examined as may be, twice, each with its store and the newest one of the two stores.
 */
const maxRows = 4 * partnerBudget + 50;
/** Tables whose size does not depend on how much the service is used. */
const small = ['store_categories'];
const modes = ['generic', 'custom'] as const;

/** Accepted requests of one store to another one. */
const pairs = 1_000;

// The fourth store has a partner in each other one; the fifth and the sixth have all their requests with each other.
// The first store sent and received declined requests, and three of each other status, which are the oldest. The first user has
// read three notifications, the oldest; the second one all but three.
await pool.query(`
  BEGIN;
  INSERT INTO users (username, email, name, password_hash)
    SELECT 'seeded' || n, 'seeded' || n || '@example.com', '이름', 'x' FROM generate_series(1, ${stores}) n;
  INSERT INTO stores (id, owner_id, name) SELECT id, id, '가게' || id FROM users;
  INSERT INTO store_category_links (store_id, category_id, position) SELECT id, 1 + id % 10, 1 FROM stores;
  INSERT INTO posts (store_id, title, content, images, created_at)
    SELECT CASE WHEN n % 2 = 0 THEN 1 ELSE 2 + n % ${stores - 1} END, '글 ' || n, '함께', '{https://example.com/1.jpg}',
      timestamptz '2026-01-01' + n * interval '1 minute'
    FROM generate_series(1, ${many}) n;
  INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message, created_at)
    SELECT p.id, CASE WHEN p.store_id = 1 THEN 2 + p.id % ${stores - 1} ELSE 1 END, p.store_id,
      CASE WHEN p.id <= 18 THEN (ARRAY['requested', 'accepted', 'withdrawn'])[1 + p.id / 2 % 3] ELSE 'declined' END::partner_request_status,
      '함께', p.created_at + n * interval '1 second'
    FROM generate_series(1, 2) n, posts p WHERE n = 1 OR p.id > 18;
  INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message)
    SELECT p.id, 2 + (p.store_id + n) % ${stores - 2}, p.store_id,
      CASE n WHEN 1 THEN 'requested' ELSE 'declined' END::partner_request_status, '함께'
    FROM posts p, generate_series(1, 2) n WHERE p.store_id > ${stores / 2} AND 2 + (p.store_id + n) % ${stores - 2} <> p.store_id;
  INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message, updated_at)
    SELECT p.id, 4, p.store_id, 'accepted', '함께', p.created_at FROM posts p WHERE p.store_id NOT IN (1, 4)
    ON CONFLICT DO NOTHING;
  INSERT INTO posts (store_id, title, content, images)
    SELECT 6, '글 ' || n, '함께', '{https://example.com/1.jpg}' FROM generate_series(1, ${pairs}) n;
  INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message)
    SELECT p.id, 5, 6, 'accepted', '함께' FROM posts p WHERE p.store_id = 6 AND p.id > ${many};
  INSERT INTO notification_counts (user_id, unread) SELECT id, ${many} FROM users;
  INSERT INTO notifications (user_id, kind, partner_request_id)
    SELECT CASE WHEN n % 3 = 0 THEN 3 + n % ${stores - 3} ELSE n % 3 END, 'partner_request_received', n % ${many} + 1
    FROM generate_series(1, ${3 * many}) n;
  UPDATE notifications SET is_read = true
    WHERE CASE id % 3 WHEN 1 THEN id <= 9 WHEN 2 THEN id > 9 ELSE id % 2 = 0 END;
  INSERT INTO consents (user_id, kind, action)
    SELECT CASE WHEN n % 2 = 0 THEN 1 ELSE 1 + n % ${stores} END, 'terms', 'given' FROM generate_series(1, ${many}) n;
  INSERT INTO images (user_id, key, state, width, height, created_at)
    SELECT CASE WHEN n % 2 = 0 THEN 1 ELSE 1 + n % ${stores} END, n, 'ready', 1, 1, now() - n / 4 * interval '1 second'
    FROM generate_series(1, ${many}) n;
  INSERT INTO reports (reporter_id, store_id, reason, created_at, closed_at, closed_by, action)
    SELECT CASE WHEN n % 2 = 0 THEN 1 ELSE 1 + n % ${stores} END, 1, 'spam', now() - n / 4 * interval '1 second', now(), '', 'none'
    FROM generate_series(1, ${many}) n;
  INSERT INTO failed_mails (user_id, kind, payload, reason, attempts)
    SELECT 1 + n % ${stores}, 'user_id', '{}', '', 1 FROM generate_series(1, ${many}) n;
  INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, created_at, expires_at)
    SELECT gen_random_uuid(), CASE WHEN n % 2 = 0 THEN 1 ELSE 1 + n % ${stores} END, '{}', 'browser', '127.0.0.1',
      now() - n / 4 * interval '1 second', now() + interval '1 day'
    FROM generate_series(1, ${many}) n;
  COMMIT`);
await pool.query('VACUUM ANALYZE');

const { tokens } = loadConfig({ JWT_SECRET: 'a secret that only tests have 0123456789' });
const own = openTestDatabase(t, app.url, 1);

/** Checks what the one statement of a call reads. */
async function reads(
  t: Test,
  mode: (typeof modes)[number],
  what: string,
  maxPages: number,
  call: (database: typeof own) => Promise<unknown>,
) {
  const { database, executions } = explainingDatabase(own, mode);
  await call(database);
  t.equal(executions.length, 1, `${what}: one statement`);
  const [execution] = executions;
  if (execution === undefined) return [];
  const { buffers, rowsRead, sorted, scanned } = execution;
  t.ok(buffers <= maxPages, `${what}: ${buffers} pages`);
  t.ok(rowsRead <= maxRows, `${what}: ${rowsRead} rows`);
  t.ok(sorted <= 100, `${what}: ${sorted} rows sorted`);
  t.strictSame(
    scanned.filter((table) => !small.includes(table)),
    [],
    `${what}: no sequential scan`,
  );
  return execution.indexes;
}

const afters = [undefined, { time: Date.UTC(2026, 0, 2), id: '1000' }];

for (const mode of modes) {
  t.test(`lists of notifications and their count read one page (${mode} plan)`, async (t) => {
    for (const userId of [1, 2, 6]) {
      for (const isRead of [undefined, true, false]) {
        for (const beforeId of [undefined, String(many)]) {
          await reads(
            t,
            mode,
            `user ${userId}, is_read ${isRead}, before ${beforeId}`,
            15 * page,
            (database) =>
              createNotificationRepository(database, idleOutbox).find({
                userId,
                isRead,
                beforeId,
                limit: page,
              }),
          );
        }
      }
      for (const after of [0, many]) {
        await reads(t, mode, `stream of user ${userId} after ${after}`, 15 * page, (database) =>
          createNotificationRepository(database, idleOutbox).listAfter(userId, after, page),
        );
      }
      await reads(t, mode, `count of user ${userId}`, 4, (database) =>
        createNotificationRepository(database, idleOutbox).countUnread(userId),
      );
    }
  });

  t.test(`marking as read reads what it marks (${mode} plan)`, async (t) => {
    const { rows } = await pool.query(
      'SELECT id FROM notifications WHERE user_id = 1 AND NOT is_read ORDER BY id LIMIT 3',
    );
    const ids = rows.map(({ id }) => Number(id));
    for (const which of [{ ids: ids.slice(0, 1) }, { up_to_id: Math.max(...ids) }, { ids }]) {
      await reads(t, mode, JSON.stringify(which), 100, (database) =>
        createNotificationRepository(database, idleOutbox).markRead(1, which),
      );
    }
  });

  t.test(`lists of requests read one page (${mode} plan)`, async (t) => {
    for (const userId of [1, 2]) {
      for (const status of [undefined, 'requested', 'accepted', 'declined', 'withdrawn', 'ended'] as const) {
        for (const after of afters) {
          const filter = { userId, status, after, limit: page };
          const what = `of user ${userId}, ${status}, ${after ? 'next' : 'first'} page`;
          await reads(t, mode, `sent ${what}`, 8 * page, (database) =>
            createPartnerRequestReader(database).list({ ...filter, box: 'sent' }),
          );
          await reads(t, mode, `received ${what}`, 13 * page, (database) =>
            createPartnerRequestReader(database).list({ ...filter, box: 'received' }),
          );
        }
      }
    }
  });

  t.test(`the own data is read in pages (${mode} plan)`, async (t) => {
    for (const [name, section] of Object.entries(sections)) {
      const { database, executions } = explainingDatabase(own, mode, { answering: true });
      let pages = 0;
      for await (const _ of createOwnDataRepository(database).readPages(section, 1)) if (++pages === 2) break;
      const size = section.pages?.size ?? 1;
      for (const { buffers, rowsRead, sorted, scanned } of executions) {
        t.ok(buffers <= 12 * size + 30, `${name}: ${buffers} pages`);
        t.ok(rowsRead <= 4 * size + 10, `${name}: ${rowsRead} rows`);
        t.ok(sorted <= size + 10, `${name}: ${sorted} rows sorted`);
        t.strictSame(scanned, [], `${name}: no sequential scan`);
      }
    }
  });

  t.test(`lists of partners read what they show (${mode} plan)`, async (t) => {
    for (const userId of [1, 4]) {
      for (const after of afters) {
        const what = `partners of user ${userId}, ${after ? 'next' : 'first'} page`;
        const indexes = await reads(t, mode, what, 30 * page, (database) =>
          createPartnerRequestReader(database).listPartners({ userId, after, limit: page }),
        );
        for (const index of ['sent_partners', 'received_partners', 'partner']) {
          if (userId === 4) t.ok(indexes.includes(`partner_requests_${index}_idx`), index);
        }
      }
    }
    // Of two stores that have all requests with each other, a page examines as many as it may.
    for (const userId of [5, 6]) {
      await reads(t, mode, `partners of user ${userId}`, 9 * partnerBudget, (database) =>
        createPartnerRequestReader(database).listPartners({ userId, after: undefined, limit: page }),
      );
    }
  });

  t.test(`withdrawing and ending read what is open (${mode} plan)`, async (t) => {
    const postId = mode === 'generic' ? 6 : 12;
    const indexes = await reads(t, mode, 'of a post', 150, (database) =>
      createPartnerRequestChanges(database, mailQueue).withdrawOfPost(database, postId),
    );
    // Without it, a scan of the whole index of open requests.
    t.ok(indexes.includes('partner_requests_pending_idx'));
    await reads(t, mode, 'of a store', 400, (database) =>
      createPartnerRequestChanges(database, mailQueue).closeOfStore(database, 1),
    );
  });

  t.test(`my-page, sessions and the user of a session (${mode} plan)`, async (t) => {
    for (const userId of [1, 2]) {
      const indexes = await reads(t, mode, `my-page of user ${userId}`, 800, (database) =>
        createMyPageRepository(database).find(userId),
      );
      for (const index of ['posts_store_feed_idx', 'partner_requests_sender_store_id_created_at_id_idx'])
        t.ok(indexes.includes(index), index);
      for (const after of [undefined, { time: Date.now() - 100_000, id: randomUUID() }]) {
        await reads(t, mode, `sessions of user ${userId}`, 5 * page, (database) =>
          createSessionRepository(database, tokens).list(database, userId, { after, limit: page }),
        );
      }
      const { rows } = await pool.query('SELECT id FROM sessions WHERE user_id = $1 LIMIT 1', [userId]);
      await reads(t, mode, `session of user ${userId}`, 10, (database) =>
        createSessionRepository(database, tokens).findUser({ userId, sessionId: rows[0].id }),
      );
    }
  });

  t.test(`the clean-up of unread matches does not read what was read (${mode} plan)`, async (t) => {
    const { database, executions } = explainingDatabase(own, mode);
    // Milliseconds, so that all are old enough.
    for await (const deleted of createMatchRepository(database, idleOutbox).deleteOldMatches(0.001))
      t.equal(deleted, 0);
    t.equal(executions.length, 16, 'a statement for each partition');
    // A partition of few rows may be read through another index; those of the first users have thousands.
    const most = Math.max(...executions.map(({ rowsRead }) => rowsRead));
    t.ok(most < 200, `${most} rows`);
  });
}
