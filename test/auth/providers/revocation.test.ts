import t from 'tap';
import { createTestApp, relayed, testEnvironment } from '../../support/app.ts';
import { cleanUp } from '../../support/images.ts';
import { everyRow } from '../../support/rows.ts';
import { until } from '../../support/until.ts';
import { accountsOf } from '../accounts.ts';
import { newResetLink } from '../mailbox.ts';
import { newAccount, startProviders } from './setup.ts';

const app = await startProviders({}, { hasWorker: true });
const { kakao, naver, apple, call, pool } = app;

const remove = ({ token }: { token: string }) => call('DELETE', '/auth/me/', { token, body: {} });

const revocations = { kakao: '/v1/user/unlink', naver: '/oauth2.0/token', apple: '/auth/revoke' };
const requestTo = (provider: typeof kakao, path: string, grantType: string | null = null) =>
  provider.requests.find(
    ({ path: one, body }) => one === path && (grantType === null || body.get('grant_type') === grantType),
  );

for (const provider of [kakao, naver, apple]) {
  const path = revocations[provider.id as keyof typeof revocations];
  const grantType = provider === naver ? 'delete' : null;

  t.test(`${provider.id} forgets the consent of deleted accounts and removed identities`, async (t) => {
    const account = await app.signUpWith(provider, newAccount());
    const linked = await app.logInWith(provider, newAccount(), 'link', account.token);
    provider.requests.length = 0;
    t.equal((await app.removeIdentity(linked.body.data.id, account.token)).status, 200);
    await until('the first revocation', () => requestTo(provider, path, grantType));
    await app.mails.settled();
    provider.requests.length = 0;
    t.equal((await remove(account)).status, 200);
    await until('the second revocation', () => requestTo(provider, path, grantType));
  });
}

t.test('a reset that removes an identity takes the consent back, and mails a notice', async (t) => {
  const account = await app.signUpWith(naver, newAccount());
  naver.requests.length = 0;
  const link = await newResetLink(app, account.email);
  t.equal((await accountsOf(app).confirmReset(link)).status, 200);
  await until('the revocation', () => requestTo(naver, '/oauth2.0/token', 'delete'));
  await app.mailTo(account.email, '간편 로그인 연결이 해제되었습니다');
});

t.test(
  'the clean-up seals refresh tokens again, so that a rotation can drop an old JWT_SECRET',
  async (t) => {
    const { providers } = app;
    const before = await startProviders({ WORKER_ENABLED: 'false' }, { providers, hasWorker: true });
    const { token } = await before.signUpWith(apple, newAccount());
    const newer = 'a newer secret that only tests have 012345';
    const both = `${newer},${testEnvironment.JWT_SECRET}`;
    const rotated = await createTestApp({ JWT_SECRET: both }, { databaseUrl: before.url });
    await cleanUp(rotated);
    await rotated.close();
    t.equal((await before.call('DELETE', '/auth/me/', { token, body: {} })).status, 200);
    apple.requests.length = 0;
    const environment = { LOGIN_PROVIDERS: 'apple', ...apple.environment, WORKER_ENABLED: 'true' };
    await before.startInstance({ ...environment, JWT_SECRET: newer });
    await until('the revocation', () => requestTo(apple, '/auth/revoke'));
  },
);

t.test('a provider that does not answer stops no deletion, and is asked again', async (t) => {
  const account = await app.signUpWith(apple, newAccount());
  apple.requests.length = 0;
  apple.faults = { responses: { '/auth/revoke': (response) => void response.writeHead(503).end() } };
  t.equal((await remove(account)).status, 200);
  await until('an attempt', () => requestTo(apple, '/auth/revoke'));
  await until('a job that waits', async () => {
    const { rowCount } = await pool.query(
      `UPDATE graphile_worker._private_jobs SET run_at = now(), attempts = 7
       WHERE locked_at IS NULL AND run_at > now() AND payload->>'provider' = 'apple'`,
    );
    return rowCount === 1;
  });
  await app.mails.settled();
  t.match(app.logs.join(), /"attempts":8,"maxAttempts":8,.*"job failed"/);
  apple.faults = {};
});

/** What providers answer, and whether the consent is gone: only their own "not linked" says so. */
const answers: [typeof kakao, path: string, status: number, body: object, isDone: boolean][] = [
  [kakao, '/v1/user/unlink', 400, { msg: 'not linked', code: -101 }, true],
  [kakao, '/v1/user/unlink', 401, { msg: 'this access token does not exist', code: -401 }, false],
  [kakao, '/v1/user/unlink', 429, {}, false],
  [kakao, '/token', 400, { error: 'invalid_grant', error_code: 'KOE322' }, true],
  [kakao, '/token', 429, { error: 'slow_down' }, false],
  [naver, '/oauth2.0/token', 200, { error: 'invalid_grant' }, true],
  [naver, '/oauth2.0/token', 200, { error: 'invalid_request' }, false],
  [apple, '/auth/revoke', 400, { error: 'invalid_grant' }, true],
  [apple, '/auth/revoke', 400, { error: 'invalid_request' }, false],
  [apple, '/auth/revoke', 429, {}, false],
];

t.test('only an answer that there is no consent counts as done', async (t) => {
  const jobs = "graphile_worker._private_jobs WHERE payload->>'provider' IS NOT NULL";
  await pool.query(`DELETE FROM ${jobs}`);
  for (const [provider, path, status, body, isDone] of answers) {
    const account = await app.signUpWith(provider, newAccount());
    provider.requests.length = 0;
    provider.faults = {
      responses: { [path]: (response) => void response.writeHead(status).end(JSON.stringify(body)) },
    };
    t.equal((await remove(account)).status, 200);
    await until('an attempt', () => requestTo(provider, path));
    const ended = await until('its end', async () => {
      const { rows } = await pool.query(`SELECT locked_at, last_error FROM ${jobs}`);
      if (rows.length === 0) return 'done';
      return rows[0].locked_at === null && rows[0].last_error && 'tried again';
    });
    t.equal(ended, isDone ? 'done' : 'tried again', `${provider.id} ${status} ${JSON.stringify(body)}`);
    await pool.query(`DELETE FROM ${jobs}`);
    provider.faults = {};
  }
});

t.test('refresh tokens of providers are in no table, job or log line as they are', async (t) => {
  const account = await app.signUpWith(kakao, newAccount());
  await app.logInWith(kakao, newAccount());
  const [identity] = await app.identitiesOf(account);
  t.match(identity.token, /^[\w-]{10}\.[\w-]+$/);
  await remove(account);
  await relayed(app);
  const rows = await everyRow(app);
  t.match(rows, 'public.login_flows ', 'that of the open sign-up is there');
  t.notMatch(rows + app.logs.join(), /refresh-\d|access-\d/);
  await app.mails.settled();
});
