import t from 'tap';
import { migrate } from '../../src/database/migrations.ts';
import { connect, migrateUntil, writeMigrations } from './migration-folders.ts';

/* What migrations do to the rows that are there. */

const twoStores = `
  INSERT INTO users (id, username, email, name, password_hash)
    SELECT n, 'user' || n, n || '@example.com', '이름', 'x' FROM generate_series(1, 3) n;
  INSERT INTO stores (id, owner_id, name, address) VALUES (1, 1, '두레 카페', '와우산로 1'), (2, 2, '둘', '');
  INSERT INTO store_category_links (store_id, category_id, position) VALUES (1, 1, 1), (2, 1, 1);
  INSERT INTO posts (id, store_id, title, content, images)
    VALUES (1, 1, '글 하나', '함께 해요', '{https://example.com/1.jpg}')`;

t.test('notifications from before the counts are counted', async (t) => {
  const { url, client, values } = await connect(t);
  await migrateUntil(t, url, '20261122030000');
  await client.query(`
    ${twoStores};
    INSERT INTO partner_requests (id, post_id, sender_store_id, receiver_store_id, message) VALUES (1, 1, 2, 1, '함께');
    INSERT INTO notifications (user_id, kind, partner_request_id, is_read)
      SELECT n % 2 + 1, 'partner_request_received', 1, n % 3 = 0 FROM generate_series(1, 9) n`);
  await migrate(url);
  t.same(await values('SELECT unread AS value FROM notification_counts ORDER BY user_id'), [3, 3, 0]);
});

t.test('partnerships of deleted accounts end, and kept answers get the fields of later ones', async (t) => {
  const { url, client, values } = await connect(t);
  await migrateUntil(t, url, '20261123020000');
  await client.query(`
    INSERT INTO users (id, username, email, name, password_hash)
      SELECT n, 'user' || n, n || '@example.com', '이름', 'x' FROM generate_series(1, 2) n;
    INSERT INTO stores (id, owner_id, name, closed_at) VALUES (1, 1, '하나', NULL), (2, 2, '둘', NULL), (3, NULL, '셋', '2026-01-01');
    INSERT INTO store_category_links (store_id, category_id, position) VALUES (1, 1, 1), (2, 1, 1);
    INSERT INTO posts (id, store_id, title, content, images) VALUES (1, 1, '글', '함께', '{https://example.com/1.jpg}');
    INSERT INTO partner_requests (id, post_id, sender_store_id, receiver_store_id, status, message)
      VALUES (1, 1, 2, 1, 'accepted', '함께'), (2, 1, 3, 1, 'accepted', '함께'), (3, 1, 3, 1, 'declined', '함께');
    INSERT INTO idempotency_keys (scope, key, request_hash, body) VALUES
      ('1:createPost', 'a', 'x', '{"data": {"id": 1, "content": "함께"}, "language": "ko"}'),
      ('2:createPartnerRequest', 'b', 'x', '{"data": {"id": 1, "created_at": "2026-01-31T09:30:00.000Z"}, "language": "ko"}'),
      ('2:createStore', 'c', 'x', '{"data": {"id": 1}, "language": "ko"}')`);
  await migrate(url);
  t.same(await values('SELECT status AS value FROM partner_requests ORDER BY id'), [
    'accepted',
    'ended',
    'declined',
  ]);
  const time = '2026-01-31T09:30:00.000Z';
  t.same(await values("SELECT body -> 'data' AS value FROM idempotency_keys ORDER BY key"), [
    { id: 1, content: '함께', is_mine: true, my_request_status: null },
    { id: 1, post_title: '글', receiver_store_id: 1, created_at: time, updated_at: time },
    { id: 1 },
  ]);
  const transition = (id: number, to: string) =>
    client.query(`UPDATE partner_requests SET status = '${to}' WHERE id = ${id}`);
  await t.rejects(transition(1, 'declined'), {
    message: 'a partner request cannot go from accepted to declined',
  });
  await t.rejects(transition(2, 'accepted'), {
    message: 'a partner request cannot go from ended to accepted',
  });
  await t.rejects(transition(3, 'ended'), { message: 'a partner request cannot go from declined to ended' });
  await transition(1, 'ended');
});

t.test(
  'rows from before the search without spaces are found, and statements from before still run',
  async (t) => {
    const { url, client, values } = await connect(t);
    await migrateUntil(t, url, '20261123030001');
    await client.query(twoStores);
    await migrate(url);
    t.same(await values('SELECT search_text AS value FROM stores ORDER BY id'), [
      '두레카페\n와우산로1\n',
      '둘\n\n',
    ]);
    t.same(await values('SELECT search_text AS value FROM posts'), ['글하나\n함께해요']);
    const search = (table: string, text: string, q: string) =>
      values(`
        SELECT id AS value FROM ${table} item
        WHERE (search_grams(${text}) COLLATE "C") @> search_grams(search_fold('${q}'))
          AND position(search_fold('${q}') IN ${text}) > 0`);
    t.same(await search('stores', 'search_fold(item.name)', '레 카'), [1]);
    t.same(await search('posts', 'item.search_text', '함께'), [1]);
    t.same(
      await values(
        `SELECT reloptions::text AS value FROM pg_class WHERE relname ~ 'search.*_idx$' GROUP BY 1`,
      ),
      ['{fastupdate=off}'],
      'no search reads entries that wait',
    );
  },
);

t.test('a migration outside a transaction is repeated where a run was interrupted', async (t) => {
  const { url, values } = await connect(t);
  const fill = (id: string) => `-- Outside a transaction
    DO $$ BEGIN
      FOR n IN 1..3 LOOP
        INSERT INTO filled SELECT n WHERE NOT EXISTS (SELECT FROM filled WHERE id = n);
        COMMIT;
        PERFORM 1 / (${id} - n);
      END LOOP;
    END $$;`;
  const { folder, write } = await writeMigrations(t, {
    '20260101000000_table': 'CREATE TABLE filled (id int);',
    '20260102000000_rows': fill('2'),
  });
  await t.rejects(migrate(url, { folder }), { message: /_rows failed: division by zero/ });
  t.same(await values('SELECT id AS value FROM filled ORDER BY 1'), [1, 2], 'what was committed stays');
  await write('20260102000000_rows', fill('9'));
  t.same(await migrate(url, { folder }), ['20260102000000_rows']);
  t.same(await values('SELECT id AS value FROM filled ORDER BY 1'), [1, 2, 3]);
});
