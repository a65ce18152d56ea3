import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { createPost, createStore, type TestPost } from '../support/stores.ts';

const app = await createTestApp({ WORKER_ENABLED: 'false' });
const { call, pool } = app;
const path = '/api/v1/posts/';
const { token } = await createUser(app);
const { id: storeId } = await createStore(app, token, { name: '둘레' });

async function read(query: string, cursor = ''): Promise<{ titles: string[]; next: string }> {
  const response = await call('GET', `${path}${query}${cursor && `&cursor=${cursor}`}`, { token });
  if (response.status !== 200) throw new Error(response.text);
  const { items, next_cursor: next } = response.body.data;
  return { titles: items.map(({ title }: TestPost) => title), next };
}

const titles = async (q: string, query = '?limit=100') =>
  (await read(`${query}&q=${encodeURIComponent(q)}`)).titles;

t.test('q matches substrings of title and content, case-insensitive and without wildcards', async (t) => {
  const posts = [
    ['하나', '동네카페에서 만나요'],
    ['카페 둘', '커피'],
    ['셋', '100% 우유, 50_50'],
    ['넷', '100퍼센트, 50-50'],
    ['ÉCLAIR 다섯', 'Straße ŁÓDŹ'],
    ['여섯', '줄\n바꿈 ＡＢＣ 😀👍🏽'],
    ['일곱', `백\\슬래시 "따옴표" 'x' [a-z]* $1`],
    ['끝말', '첫말 말말'],
    ['여\u200d덟', 'क्\u200dष 가\u200d🥐 👩\u200d🍳'],
  ];
  for (const [title, content] of posts) await createPost(app, token, { title, content });
  /** By the titles of what is found, newest first. */
  const cases: Record<string, string[]> = {
    '카페 둘,하나': ['카페', '카페'.normalize('NFD')],
    하나: ['네카페에', '카페에 서만나요', '동네 카페'],
    '카페 둘': ['커', '카페둘'],
    셋: ['0%', '%', '0_5', '_', '100%우유,50'],
    넷: ['50-'],
    'ÉCLAIR 다섯': ['éclair', 'Éclair 다', 'éclair다섯', 'STRAße', 'łódź'],
    여섯: ['ａｂｃ', '😀👍', '😀', '줄 바', '줄바꿈\u3000ＡＢ', 'Ｃ😀'],
    일곱: ['백\\슬', '\\', `"따옴표" 'X' [`, '[a-z]*', '$1'],
    끝말: ['첫말말'],
    '여\u200d덟': ['여덟', '여\u200c덟', 'क्\u200cष 가🥐', '👩\u200d🍳'],
    '': [
      ...['sTRASSE', '하나동네', '하나 동네', '둘커', '둘\u3000커', '끝말 첫말', '끝말첫말', '말끝'],
      ...['첫말말말말', '끝말말', '👩🍳', 'ㅋ'],
    ],
  };
  for (const [found, texts] of Object.entries(cases))
    for (const q of texts) t.strictSame((await titles(q)).join(), found, q);
  t.equal((await titles('')).length, posts.length, 'empty');
  t.equal((await titles(' \u3000')).length, posts.length, 'only spaces');
});

t.test('rare and frequent words are found in every post, newest first', async (t) => {
  // Everything that has 셋째 is newer than what has 둘째: neither the newest posts nor the index alone are enough.
  await pool.query(
    `INSERT INTO posts (store_id, title, content, images, created_at)
     SELECT $1, 'n' || n,
       CASE WHEN n <= 2500 THEN '둘째 자주' ELSE '셋째' END || CASE WHEN n % 5000 = 2600 THEN ' 드문' ELSE '' END
         || CASE WHEN n % 100 = 0 THEN ' 백번째' ELSE '' END,
       '{https://example.com/1.jpg}', timestamptz '2025-01-01' + n * interval '1 second'
     FROM generate_series(1, 4000) n`,
    [storeId],
  );
  await pool.query('ANALYZE posts');
  const numbered = (...numbers: number[]) => numbers.map((n) => `n${n}`);
  const latest = (from: number, step: number, count: number) =>
    numbered(...Array.from({ length: count }, (_, index) => from - index * step));
  for (const query of ['?limit=100', '?limit=100&category_id=1', '?limit=100&mine=true']) {
    t.strictSame(await titles('셋째', query), latest(4000, 1, 100), 'frequent and new');
    t.strictSame(await titles('둘째', query), latest(2500, 1, 100), 'frequent and old');
    t.strictSame(await titles('백번째', query), latest(4000, 100, 40), 'in between');
    t.strictSame(await titles('드문', query), numbered(2600), 'rare');
    t.strictSame(await titles('드', query), numbered(2600), 'rare, one character');
    t.strictSame(await titles('둘째드문', query), [], 'a word of newer posts');
    t.strictSame(await titles('셋째드 문', query), numbered(2600), 'rare, without its space');
    t.strictSame(await titles('둘째 셋째', query), [], 'both frequent, never together');
    t.strictSame(await titles('둘째', `${query}&category_id=11`.replace('category_id=1&', '')), []);
  }
  await pool.query('DELETE FROM posts WHERE store_id = $1 AND title ~ $2', [storeId, '^n[0-9]+$']);
});

t.test('a search examines a bounded number of posts per page, and goes on to the end', async (t) => {
  const page = (query: string, cursor?: string) => read(`?limit=2${query}`, cursor);
  const text = `&q=${encodeURIComponent('가나다라')}`;
  // Every post has each part of the text; four have the text.
  const other = await createUser(app);
  const { id: otherStore } = await createStore(app, other.token);
  await pool.query(`
    BEGIN;
    SET LOCAL session_replication_role = replica;
    INSERT INTO posts (store_id, title, content, images, search_text, created_at)
      SELECT ${otherStore}, 'b' || n, '내용', '{https://example.com/1.jpg}',
        CASE WHEN n IN (1, 2, 3, 5400) THEN '가나다라' ELSE '가나다나다라' END, timestamptz '2024-01-01' + n * interval '1 second'
      FROM generate_series(1, 5500) n;
    COMMIT;
    ANALYZE posts`);
  for (const query of [text, `${text}&category_id=1`, `${text}&store_id=${otherStore}`]) {
    const first = await page(query);
    t.strictSame(first.titles, ['b5400'], `${query}: shorter than the limit`);
    const second = await page(query, first.next);
    t.strictSame(second.titles, ['b3', 'b2'], `${query}: full`);
    t.strictSame(await page(query, second.next), { titles: ['b1'], next: null }, `${query}: the end`);
  }
  await createPost(app, token, { title: '바마사아' });
  const rare = `&q=${encodeURIComponent('바마사아')}`;
  t.strictSame(await page(rare), { titles: ['바마사아'], next: null });
  t.strictSame(await page(`${rare}&store_id=${otherStore}`), { titles: [], next: null }, 'of another store');

  const { next } = await page(text);
  const [, time, id] = /^(\d+)_(\d+)$/.exec(Buffer.from(next, 'base64url').toString()) ?? [];
  const stopped = await pool.query('DELETE FROM posts WHERE id = $1 RETURNING created_at', [id]);
  t.equal(stopped.rows[0].created_at.getTime(), Number(time), 'the last post that was examined');
  await createPost(app, token, { title: '가나다라 새로' });
  t.strictSame((await page(text, next)).titles, ['b3', 'b2'], 'after posts were added and deleted');
  for (const cursor of [`${next}A`, next.slice(1), Buffer.from(`${time}_0`).toString('base64url')]) {
    const rejection = await call('GET', `${path}?cursor=${cursor}${text}`, { token });
    t.equal(rejection.body.data.code, 'invalid_cursor');
  }

  await pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [other.id]);
  await pool.query(`UPDATE posts SET created_at = '2023-01-01' WHERE store_id = $1`, [storeId]);
  const hidden = await page('');
  t.strictSame(hidden.titles, [], 'the newest posts are of a suspended store');
  t.equal((await page('', hidden.next)).titles.length, 2);
});
