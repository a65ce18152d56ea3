import pg from 'pg';
import t from 'tap';
import { createTestApp, createUser, logIn } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import { notificationsOf, requestsPath, sendRequest, transition } from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';

interface PlanCounts {
  statement: string;
  generic_plans: number;
  custom_plans: number;
}

/** What begins and ends transactions is not planned; the listener and the worker of this process have statements of their own. */
const ignored = /^(BEGIN|COMMIT|ROLLBACK)$|transaction_read_only|"?graphile_worker"?\._private/;

// A statement without a name is planned at each execution, a named one as often as its connection says.
t.test('the statements of hot paths are planned once per connection', async (t) => {
  // Without the worker, whose statements are its own.
  const app = await createTestApp({ WORKER_ENABLED: 'false', DATABASE_POOL_SIZE: '2' });
  t.teardown(app.close);
  const sender = await openShop(app, '두레 베이커리');
  const receiver = await openShop(app, '햇살카페');
  const user = await createUser(app);
  const posts = [];
  for (let count = 0; count < 3; count++) posts.push(await createPost(app, receiver.token));

  const connections = new Set<pg.Client>();
  const unnamed = new Set<string>();
  const { query } = pg.Client.prototype;
  const restore = t.capture(
    pg.Client.prototype,
    'query',
    function (this: pg.Client, statement: unknown, ...rest: unknown[]) {
      const { text, name } = asConfig(statement);
      if (!ignored.test(text)) {
        if (name === undefined) unnamed.add(text);
        else connections.add(this);
      }
      return Reflect.apply(query, this, [statement, ...rest]);
    },
  );
  let { refresh } = await logIn(app, user);
  const get = async (path: string) => {
    const response = await app.call('GET', path, { token: receiver.token });
    t.equal(response.status, 200, path);
  };
  for (const post of posts) {
    await logIn(app, user);
    const refreshed = await app.call('POST', '/auth/token/refresh/', { body: { refresh } });
    t.equal(refreshed.status, 200);
    refresh = refreshed.body.data.refresh;
    await transition(app, receiver, await sendRequest(app, sender, post), 'accept');
    const { items } = await notificationsOf(app, receiver);
    for (const body of [{ ids: [items[0].id] }, { up_to_id: items[0].id }])
      await app.call('POST', '/api/v1/notifications/mark-read/', { token: receiver.token, body });
    for (const query of ['', '?is_read=true', '?is_read=false'])
      await get(`/api/v1/notifications/mypage/${query}`);
    for (const query of ['', '?box=sent', '?status=수락됨', '?box=sent&status=수락됨'])
      await get(`${requestsPath}${encodeURI(query)}`);
    for (const path of ['/auth/me/', '/auth/sessions/', '/api/v1/notifications/unread-count/'])
      await get(path);
    for (const path of ['/api/v1/stores/mypage/', '/api/v1/posts/', `/api/v1/posts/${post.id}/`])
      await get(path);
  }
  restore.restore();

  t.strictSame([...unnamed], [], 'every statement has a name');
  const planned: PlanCounts[] = [];
  for (const connection of connections) {
    const { rows } = await connection.query<PlanCounts>(
      'SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements',
    );
    planned.push(...rows);
  }
  t.ok(planned.some(({ generic_plans }) => generic_plans >= 3));
  t.strictSame(
    planned.filter(({ custom_plans }) => custom_plans > 0).map(({ statement }) => statement),
    [],
    'no statement is planned again for its values',
  );
});

// A connection keeps each text that is prepared with its plan, up to 0.5 MiB, until it ends.
t.test('lists have few texts, whatever their filters are', async (t) => {
  const app = await createTestApp();
  const { token, store } = await openShop(app, '두레 베이커리');
  const names = new Set<string>();
  const { query } = pg.Client.prototype;
  t.capture(pg.Client.prototype, 'query', function (this: pg.Client, statement: unknown, ...rest: unknown[]) {
    const { text, name } = asConfig(statement);
    if (text.includes('walked')) {
      t.type(name, 'string');
      names.add(String(name));
    }
    return Reflect.apply(query, this, [statement, ...rest]);
  });
  const filters = ['q=카페', 'region=성동구', 'category_id=1', 'near=37.5,127&radius_m=500'];
  const choices = Array.from({ length: 2 ** filters.length }, (_, choice) =>
    filters.filter((_, index) => choice & (1 << index)).join('&'),
  );
  const posts = ['', 'status=closed&', 'status=all&', 'mine=true&', `store_id=${store.id}&status=all&`];
  for (const path of ['stores/?', ...posts.map((rest) => `posts/?${rest}`)])
    for (const choice of choices) {
      const { status } = await app.call('GET', encodeURI(`/api/v1/${path}${choice}`), { token });
      t.equal(status, 200, path);
    }
  t.ok(names.size > 10 && names.size <= 50, `${names.size} texts for ${6 * choices.length} lists`);
  const { maxLifetimeSeconds } = openTestDatabase(t, app.url).pool.options;
  t.equal(maxLifetimeSeconds, 3_600, 'and no connection keeps them for longer than an hour');
});

function asConfig(statement: unknown): { text: string; name?: string } {
  if (typeof statement === 'string') return { text: statement };
  const { text, name } = statement as { text: string; name?: string };
  return name === undefined ? { text } : { text, name };
}
