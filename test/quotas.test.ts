import t, { type Test } from 'tap';
import { closeReport, createAdmin } from './support/admin.ts';
import { createTestApp, createUser, type TestApp, type TestResponse } from './support/app.ts';
import { exhausted, invalid, rejected, tally } from './support/assertions.ts';
import { inParallel } from './support/concurrency.ts';
import { plainImage, upload } from './support/images.ts';
import { requestPartnership, transition } from './support/partner-requests.ts';
import { createPost, openShop } from './support/stores.ts';
import { atMost } from './support/time.ts';

interface Caller {
  /** Of the store or the user that the quota is for. */
  id: number;
  /** How many have been done already. */
  used?: number;
  /** Does the operation with the object of this number. */
  attempt(object: number, at: TestApp, headers?: Record<string, string>): Promise<TestResponse>;
  /** Asserts how attempts are rejected that do not count, whatever room the quota has. */
  reject?(t: Test): Promise<void>;
  /** What frees no room. */
  undo?(id: number): Promise<TestResponse>;
  /** What needs no room. */
  uncounted?(): Promise<TestResponse>;
}

interface Operation {
  /** Within 24 hours, by default. */
  quota: number;
  isConfigurable?: boolean;
  /** The rows that count, of the owner `$1`, and their column of the time. */
  counted: [rows: string, time: 'created_at' | 'since'];
  /** SQL that adds to it what the owner `$1` did, from the rows `used`. */
  use: string;
  isIdempotent?: boolean;
  /** How often a user may do it at once. */
  atOnce?: number;
  open(app: TestApp): Promise<Caller>;
}

const missingId = 2_147_483_647;
const draft = { title: '글', content: '내용', images: ['https://cdn.example.com/1.jpg'] };
const notUploaded = `https://api.example.com/media/aa/${'0'.repeat(30)}.webp`;

/** A shop with posts that others report or request. @returns the ids of the posts */
async function openFamousShop(app: TestApp): Promise<number[]> {
  const { store } = await openShop(app, '햇살카페');
  const { rows } = await app.pool.query(
    `INSERT INTO posts (store_id, title, content, images, created_at)
     SELECT $1, '글', '내용', '{}', now() - interval '2 days' FROM generate_series(1, 40) RETURNING id`,
    [store.id],
  );
  return rows.map(({ id }) => id);
}

const countedAs = (kind: string): Pick<Operation, 'counted' | 'use'> => ({
  counted: [`daily_counts WHERE kind = '${kind}' AND owner_id = $1`, 'since'],
  use: `INSERT INTO daily_counts AS c (kind, owner_id, since, count) SELECT '${kind}', $1, min(at), count(*) FROM used
    ON CONFLICT (kind, owner_id) DO UPDATE SET since = excluded.since, count = c.count + excluded.count`,
});

const operations: Record<string, Operation> = {
  'posts of a store': {
    quota: 30,
    isConfigurable: true,
    ...countedAs('post'),
    isIdempotent: true,
    async open(app) {
      const { token, store } = await openShop(app);
      const stranger = await createUser(app);
      const path = '/api/v1/posts/';
      return {
        id: store.id,
        attempt: (_, at, headers = {}) => at.call('POST', path, { token, body: draft, headers }),
        async reject(t) {
          invalid(t, await app.call('POST', path, { token, body: { ...draft, title: '' } }), 'title');
          const byStranger = await app.call('POST', path, { token: stranger.token, body: draft });
          rejected(t, byStranger, 403, 'store_required');
        },
        undo: (id) => app.call('DELETE', `${path}${id}/`, { token }),
      };
    },
  },
  'changes of a store and of its posts': {
    quota: 60,
    isConfigurable: true,
    ...countedAs('edit'),
    async open(app) {
      const { token, store } = await openShop(app);
      const ownStore = '/api/v1/stores/me/';
      const pathOf = (post: { id: number }) => `/api/v1/posts/${post.id}/`;
      const [own, old] = [await createPost(app, token), await createPost(app, token)];
      const foreign = await createPost(app, (await openShop(app)).token);
      const stranger = await createUser(app);
      const edit = (path: string, body: object, { token: by } = { token }) =>
        app.call('PATCH', path, { token: by, body });
      return {
        id: store.id,
        attempt: (object, at) =>
          object % 3 === 0
            ? at.call('PATCH', ownStore, { token, body: { name: '가게' } })
            : at.call('PATCH', pathOf(own), {
                token,
                body: { title: '글', ...(object % 3 === 1 && { images: [] }) },
              }),
        async reject(t) {
          const before = await app.call('GET', pathOf(own), { token });
          rejected(t, await edit(pathOf(foreign), { title: '글' }), 403, 'forbidden');
          rejected(t, await edit(pathOf({ id: missingId }), { title: '글' }), 404, 'post_not_found');
          invalid(t, await edit(pathOf(own), { title: '' }), 'title');
          invalid(t, await edit(pathOf(own), { images: [notUploaded] }), '/images/0');
          t.equal((await edit(ownStore, { category_ids: [9_999] })).status, 400);
          rejected(t, await edit(ownStore, { description: '소개' }, stranger), 404, 'store_not_found');
          t.strictSame((await app.call('GET', pathOf(own), { token })).body, before.body);
        },
        uncounted: () => app.call('DELETE', pathOf(old), { token }),
      };
    },
  },
  'partner requests of a store': {
    quota: 100,
    isConfigurable: true,
    counted: ['partner_requests WHERE sender_store_id = $1', 'created_at'],
    use: `INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message, created_at)
      SELECT p.id, $1, p.store_id, 'withdrawn', '함께', at
      FROM used, (SELECT * FROM posts WHERE store_id <> $1 ORDER BY id LIMIT 1) p`,
    isIdempotent: true,
    async open(app) {
      const shop = await openShop(app);
      const own = await createPost(app, shop.token);
      const stranger = await createUser(app);
      const [requested = 0, ...posts] = await openFamousShop(app);
      const ask = (id = 0, at = app, headers = {}) => requestPartnership(at, shop, { id }, headers);
      await ask(requested);
      return {
        id: shop.store.id,
        used: 1,
        attempt: (object, at, headers) => ask(posts[object], at, headers),
        async reject(t) {
          rejected(t, await ask(requested), 409, 'already_requested');
          rejected(t, await ask(own.id), 409, 'own_post');
          rejected(t, await ask(missingId), 404, 'post_not_found');
          rejected(t, await requestPartnership(app, stranger, own), 403, 'store_required');
        },
        undo: (id) => transition(app, shop, id, 'withdraw'),
      };
    },
  },
  'reports of a user': {
    quota: 20,
    ...countedAs('report'),
    async open(app) {
      const { id, token } = await createUser(app);
      const admin = await createAdmin(app);
      const [reported, ...posts] = await openFamousShop(app);
      const report = (post = 0, at = app) =>
        at.call('POST', `/api/v1/posts/${post}/report/`, { token, body: { reason: 'spam' } });
      await report(reported);
      return {
        id,
        used: 1,
        attempt: (object, at) => report(posts[object], at),
        async reject(t) {
          rejected(t, await report(reported), 409, 'already_reported');
          rejected(t, await report(missingId), 404, 'post_not_found');
        },
        undo: (id) => closeReport(app, admin, id, 'none'),
      };
    },
  },
  'images of a user': {
    quota: 200,
    ...countedAs('image'),
    atOnce: 4,
    async open(app) {
      const { id, token } = await createUser(app);
      const content = await plainImage();
      return {
        id,
        attempt: (_, at) => upload(at, token, content),
        undo: (id) => app.call('DELETE', `/api/v1/images/${id}/`, { token }),
      };
    },
  },
  'downloads of the own data': {
    quota: 5,
    ...countedAs('download'),
    async open(app) {
      const { id, token } = await createUser(app);
      const path = '/auth/me/data/';
      return {
        id,
        attempt: (_, at) => at.call('GET', path, { token }),
        uncounted: () => app.call('HEAD', path, { token }),
      };
    },
  },
};

/** Adds what an owner did: the first one 23 hours ago, the others an hour ago. */
async function spend({ pool }: TestApp, { use }: Operation, [id, count]: [id: number, count: number]) {
  const at = "now() - CASE n WHEN 1 THEN interval '23 hours' ELSE interval '1 hour' END";
  const used = `used AS (SELECT n, ${at} AS at FROM generate_series(1, $2::int) n)`;
  await pool.query(`WITH ${used} ${use}`, [id, count]);
}

const app = await createTestApp();
const other = await app.startInstance();
const withQuotas = (QUOTA_REQUESTS_PER_DAY: string, others: string) =>
  app.startInstance({ QUOTA_REQUESTS_PER_DAY, QUOTA_POSTS_PER_DAY: others, QUOTA_EDITS_PER_DAY: others });
const limited = await withQuotas('3', '2');
const free = await withQuotas('0', '0');

const isDone = ({ status }: TestResponse) => status < 300;
const idOf = ({ body }: TestResponse): number => body.data?.id;
const usedUp = (t: Test, response: TestResponse, hours: number) =>
  exhausted(t, response, hours * 3_600, Math.max(1, hours * 3_600 - atMost(120_000) / 1_000));

for (const [name, operation] of Object.entries(operations)) {
  const { quota, isConfigurable, isIdempotent, atOnce = 8 } = operation;
  const [rows, time] = operation.counted;
  const isWindow = time === 'since';

  t.test(`${quota} ${name} within 24 hours, also at once and on two instances`, async (t) => {
    const { id, used = 0, attempt, reject, undo, uncounted } = await operation.open(app);
    const stranger = await operation.open(app);
    await spend(app, operation, [id, quota - used - 3]);
    await reject?.(t);
    const first = await attempt(0, app, { 'idempotency-key': 'first' });
    t.ok(isDone(first), first.text);
    const responses = await inParallel(atOnce, (n) => attempt(1 + n, n % 2 ? other : app));
    const [done, late] = [responses.filter(isDone), responses.filter((one) => !isDone(one))];
    t.equal(done.length, 2, JSON.stringify(tally(responses)));
    for (const response of late) usedUp(t, response, 1);
    await reject?.(t);
    const last = Math.max(...done.map(idOf));
    if (undo) t.equal((await undo(last)).status, 200);
    usedUp(t, await attempt(9, app, { 'idempotency-key': 'refused' }), 1);
    if (uncounted) t.equal((await uncounted()).status, 200);

    const hourAgo = `${time} = ${time} - interval '1 hour'`;
    await app.pool.query(`UPDATE ${rows.replace('WHERE', `SET ${hourAgo} WHERE`)}`, [id]);
    if (isIdempotent) {
      const again = await attempt(0, app, { 'idempotency-key': 'first' });
      t.strictSame([again.text, again.headers['idempotency-replayed']], [first.text, 'true']);
    }
    const next = await attempt(9, app, { 'idempotency-key': 'refused' });
    t.ok(isDone(next), 'a key that was refused is free');
    if (undo) t.equal(idOf(next), last + 1, 'refused attempts take no id');
    const room = isWindow ? 2 : 0;
    if (isWindow) await spend(app, operation, [id, quota - 1 - room]);
    const others = await inParallel(room + 2, (n) => attempt(10 + n, n % 2 ? other : app));
    const freed = isWindow ? 'the whole quota again' : 'the place of the oldest';
    t.equal(others.filter(isDone).length, room, freed);
    for (const response of others) if (!isDone(response)) usedUp(t, response, isWindow ? 1 : 22);
    t.ok(isDone(await stranger.attempt(0, app)), 'others have quotas of their own');
  });

  if (!isConfigurable) continue;
  t.test(`another quota of ${name}, and none`, async (t) => {
    for (const [instance, count] of [
      [limited, 2],
      [free, 6],
    ] as const) {
      const { id, used = 0, attempt } = await operation.open(instance);
      if (instance === free) await spend(free, operation, [id, quota]);
      const responses = await inParallel(6, (n) => attempt(n, instance));
      t.equal(responses.filter(isDone).length, count, `${JSON.stringify(tally(responses))}, ${used} before`);
    }
  });
}
