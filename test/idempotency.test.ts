import t from 'tap';
import { signUpBody } from './auth/accounts.ts';
import { mailsTo } from './auth/mailbox.ts';
import { createTestApp, createUser, password, type TestResponse } from './support/app.ts';
import { rejected, tally } from './support/assertions.ts';
import { inParallel, lockRows } from './support/concurrency.ts';
import { contract } from './support/contract.ts';
import { cleanUp } from './support/images.ts';
import { openTwoShops, requestsPath } from './support/partner-requests.ts';
import { countRows } from './support/rows.ts';
import { openShop } from './support/stores.ts';

const app = await createTestApp();
const other = await app.startInstance({}, { serverErrors: true });

interface Draft {
  token?: string;
  body: Record<string, unknown>;
  /** Fields that make another valid body, and an invalid one. */
  change: Record<string, unknown>;
  mistake: Record<string, unknown>;
}

interface Operation {
  path: string;
  table: string;
  /** A column that the response shows. */
  column: string;
  prepare(): Promise<Draft>;
}

/** Every operation that takes an `Idempotency-Key`, by its `operationId`. */
const operations: Record<string, Operation> = {
  signUp: {
    path: '/auth/signup/',
    table: 'users',
    column: 'name',
    prepare: async () => ({
      body: signUpBody(),
      change: { password: `${password}!` },
      mistake: { password: 'password' },
    }),
  },
  createStore: {
    path: '/api/v1/stores/',
    table: 'stores',
    column: 'name',
    async prepare() {
      const { token } = await createUser(app);
      const body = { name: '두레 카페', category_ids: [1] };
      return { token, body, change: { name: '다른 카페' }, mistake: { category_ids: [9_999] } };
    },
  },
  createPost: {
    path: '/api/v1/posts/',
    table: 'posts',
    column: 'title',
    async prepare() {
      const { token } = await openShop(app);
      const body = { title: '글', content: '내용', images: ['https://cdn.example.com/1.jpg'] };
      return { token, body, change: { title: '다른 글' }, mistake: { images: ['x'] } };
    },
  },
  createPartnerRequest: {
    path: requestsPath,
    table: 'partner_requests',
    column: 'message',
    async prepare() {
      const { sender, post } = await openTwoShops(app);
      const body = { post_id: post.id, message: '함께 해요!' };
      const mistake = { post_id: 2_147_483_647 };
      return { token: sender.token, body, change: { message: '다른 말' }, mistake };
    },
  },
};

let keys = 0;
const newKey = () => ({ 'idempotency-key': `key-${++keys}` });
const isReplay = ({ headers }: TestResponse) => headers['idempotency-replayed'] === 'true';

t.test('no other operations take a key', async (t) => {
  const withKey = contract.operations.filter(({ parameters = [] }) =>
    parameters.some(({ name }) => name === 'Idempotency-Key'),
  );
  t.strictSame(withKey.map(({ operationId }) => operationId).sort(), Object.keys(operations).sort());
});

for (const [name, { path, table, column, prepare }] of Object.entries(operations)) {
  // Where the created resource is read.
  const location = name === 'signUp' ? undefined : path;
  const count = () => countRows(app, table);
  const send = ({ token }: Draft, body: unknown, headers: Record<string, string>, at = app) =>
    at.call('POST', path, { token, body, headers });

  t.test(`${name}: a repeated key replays the first response, in its language`, async (t) => {
    const [draft, key] = [await prepare(), newKey()];
    const before = await count();
    const first = await send(draft, draft.body, { ...key, 'accept-language': 'en' });
    t.match(first, { status: 201, headers: { 'content-language': 'en' } });
    t.notOk('idempotency-replayed' in first.headers);
    const { id } = first.body.data;
    if (location) {
      const read = await app.call('GET', `${first.headers.location}`, draft);
      t.match(read, { status: 200, body: { data: { id } } });
    }
    await app.pool.query(`UPDATE ${table} SET ${column} = '바뀐 값' WHERE id = $1`, [id]);
    const reordered = Object.fromEntries(Object.entries(draft.body).reverse());
    for (const same of [draft.body, reordered, draft.body]) {
      const again = await send(draft, same, { ...key, 'accept-language': 'ko' });
      t.strictSame([again.status, again.text, isReplay(again)], [201, first.text, true]);
      t.equal(again.headers['content-language'], 'en');
      t.equal(again.headers.location, location && `${location}${id}/`);
    }
    const conflict = await send(draft, { ...draft.body, ...draft.change }, key);
    rejected(t, conflict, 409, 'idempotency_conflict');
    t.equal(await count(), before + 1);
  });

  t.test(`${name}: of concurrent requests with one key to two instances, one does the work`, async (t) => {
    const [draft, key] = [await prepare(), newKey()];
    const before = await count();
    const bodies = [draft.body, { ...draft.body, ...draft.change }];
    const responses = await inParallel(20, (n) => send(draft, bodies[n % 2], key, n % 4 < 2 ? other : app));
    t.strictSame(tally(responses), { '201': 10, '409 idempotency_conflict': 10 }, 'of each body');
    const same = responses.filter(({ status }) => status === 201);
    t.equal(new Set(same.map(({ text }) => text)).size, 1);
    t.equal(same.filter(isReplay).length, 9, 'all but the response of the work');
    t.equal(await count(), before + 1);
    const { email } = draft.body;
    if (typeof email === 'string') t.equal((await mailsTo(app, email)).length, 1);
  });

  t.test(`${name}: a key is free after 24 hours, and the clean-up deletes it`, async (t) => {
    const [draft, key] = [await prepare(), newKey()];
    const isKey = `key = '${key['idempotency-key']}'`;
    await send(draft, draft.body, key);
    const age = (interval: string) =>
      app.pool.query(
        `UPDATE idempotency_keys SET created_at = now() - interval '${interval}' WHERE ${isKey}`,
      );
    await age('23 hours 59 minutes');
    t.ok(isReplay(await send(draft, draft.body, key)));
    await age('24 hours 1 minute');
    const again = await send(draft, draft.body, key);
    t.notOk(isReplay(again));
    if (again.status === 201) t.ok(isReplay(await send(draft, draft.body, key)), 'of the second response');
    await age('24 hours 1 minute');
    await cleanUp(app);
    t.equal(await countRows(app, `idempotency_keys WHERE ${isKey}`), 0);
  });

  t.test(`${name}: a rejected request leaves the key free, and others have keys of their own`, async (t) => {
    const [draft, key] = [await prepare(), newKey()];
    const refused = await send(draft, { ...draft.body, ...draft.mistake }, key);
    t.ok(refused.status >= 400 && refused.status < 500, refused.text);
    const first = await send(draft, draft.body, key);
    t.strictSame([first.status, isReplay(first)], [201, false], first.text);
    if (draft.token === undefined) return;
    const stranger = await prepare();
    const another = await send(stranger, stranger.body, key);
    t.strictSame([another.status, isReplay(another)], [201, false]);
    t.not(another.body.data.id, first.body.data.id);
  });
}

t.test('a request that waits for one with its key does the work when that fails', async (t) => {
  const { id, token } = await openShop(app);
  const post = { token, body: { title: '글', content: '내용', images: [] }, headers: newKey() };
  const send = () => other.call('POST', '/api/v1/posts/', post);
  const lock = await lockRows(t, app, 'SELECT FROM stores WHERE owner_id = $1 FOR UPDATE', [id]);
  const first = send();
  const [backend] = await lock.waiters(1);
  const second = send();
  await lock.waiters(2);
  await app.pool.query('SELECT pg_cancel_backend($1)', [backend]);
  rejected(t, await first, 503, 'service_unavailable');
  await lock.release();
  t.match(await second, { status: 201 });
  t.equal(await countRows(app, 'posts JOIN stores s ON s.id = store_id WHERE owner_id = $1', id), 1);
});
