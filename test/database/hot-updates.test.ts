import t from 'tap';
import { accountsOf } from '../auth/accounts.ts';
import { createTestApp, logIn } from '../support/app.ts';
import { openTwoVerifiedShops, sendRequest } from '../support/partner-requests.ts';
import { createPost } from '../support/stores.ts';
import { until } from '../support/until.ts';

/** Rows that frequent operations update. */
const tables = ['sessions', 'users', 'known_addresses', 'login_failures', 'mail_sends', 'store_edits'];

// An update that changes no index (HOT) writes less, and its old version is reused without a vacuum.
t.test('refreshes, logins, emails and edits change no index', async (t) => {
  const app = await createTestApp({ QUOTA_EDITS_PER_DAY: '1000' }, { isolated: true });
  const { refresh, tryLogin } = accountsOf(app);
  const { sender, receiver } = await openTwoVerifiedShops(app);
  const read = async () => {
    const { rows } = await app.pool.query<{ name: string; updates: number; hot: number }>(
      `SELECT relname AS name, n_tup_upd AS updates, n_tup_hot_upd AS hot FROM pg_stat_user_tables
       WHERE relname = ANY ($1)`,
      [tables],
    );
    return rows;
  };
  let { refresh: token } = await logIn(app, sender);
  for (let turn = 0; turn < 12; turn++) {
    await logIn(app, receiver);
    token = (await refresh(token)).body.data.refresh;
    await tryLogin(`unknown${turn % 3}`);
    await app.call('PATCH', '/api/v1/stores/me/', { token: sender.token, body: { name: `빵집 ${turn}` } });
    await sendRequest(app, sender, await createPost(app, receiver.token));
  }
  await app.mails.settled();
  // A connection reports what it counted when it ends, and seldom before.
  await app.app.close();
  await until('the statistics have all updates', async () =>
    (await read()).every(({ updates }) => updates >= 10),
  );
  for (const { name, updates, hot } of await read())
    t.ok(hot / updates > 0.9, `${name}: ${hot} of ${updates} updates are HOT`);
});
