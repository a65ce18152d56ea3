import t, { type Test } from 'tap';
import { createTestApp, createUser, password, suspend, type TestResponse } from '../support/app.ts';
import { invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { inParallel, lockRows } from '../support/concurrency.ts';
import { contract } from '../support/contract.ts';
import { countRows } from '../support/rows.ts';
import { production } from '../support/service.ts';
import { accountsOf } from './accounts.ts';
import { sessionIdIn } from './tokens.ts';

const app = await createTestApp();
const { me } = accountsOf(app);
const cookieName = '__Host-dure-refresh';
/** Of `FRONTEND_URL`. */
const frontend = 'https://app.example.com';
const mode = { 'x-refresh-token': 'cookie' };

interface Sent {
  cookie?: string;
  origin?: string;
  /** In place of `X-Refresh-Token: cookie`. */
  headers?: Record<string, string>;
  body?: unknown;
  token?: string;
}

/** A request as browsers send it: with the cookie, whose name a test may give with it, and perhaps an origin. */
function send(path: string, { cookie, origin, headers = mode, body, token }: Sent = {}, { call } = app) {
  const pair = cookie === undefined || cookie.includes('=') ? cookie : `${cookieName}=${cookie}`;
  return call('POST', `/auth/${path}/`, {
    body,
    token,
    headers: { ...headers, ...(pair ? { cookie: pair } : {}), ...(origin === undefined ? {} : { origin }) },
  });
}

/** The cookie that a response sets: its name, its value and its attributes. */
function cookieIn({ headers }: TestResponse) {
  const [pair = '', ...attributes] = String(headers['set-cookie'] ?? '').split('; ');
  const [name = '', value = ''] = pair.split('=');
  return { name, value, attributes: attributes.sort() };
}

const cookieAttributes = (maxAge: number) =>
  [`Max-Age=${maxAge}`, 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Strict'].sort();

/** Asserts that a response clears the cookie, with the attributes without which browsers would ignore it. */
function isCleared(t: Test, response: TestResponse): void {
  const { name, value, attributes } = cookieIn(response);
  const expected = [...cookieAttributes(0), 'Expires=Thu, 01 Jan 1970 00:00:00 GMT'].sort();
  t.strictSame({ name, value, attributes }, { name: cookieName, value: '', attributes: expected });
}

/** Asserts that the token of a session is still the current one, so no refresh took place, and that a response kept the cookie. */
async function isUntouched(t: Test, session: { refresh: string }, response: TestResponse): Promise<void> {
  t.equal(response.headers['set-cookie'], undefined, 'the cookie is kept');
  const untouched = 'sessions WHERE id = $1 AND refresh_count = 0';
  const rows = await countRows(app, untouched, sessionIdIn(session.refresh));
  t.equal(rows, 1, 'the session lives and did not rotate');
}

t.test('login, refresh and logout with the refresh token in a cookie only', async (t) => {
  const { id, username, name, email } = await createUser(app);
  const user = { id, username, name, email, role: 'user', is_verified: false };
  const login = await send('login', { origin: frontend, body: { username, password } });
  const { access } = login.body.data;
  const rest = { token_type: 'Bearer', expires_in: 900, refresh_expires_in: 1_209_600 };
  t.strictSame(login.body.data, { access, ...rest, user });
  const first = cookieIn(login);
  t.strictSame([first.name, first.attributes], [cookieName, cookieAttributes(1_209_600)]);

  const refreshed = await send('token/refresh', { origin: frontend, cookie: first.value, body: {} });
  t.strictSame(refreshed.body.data, { access: refreshed.body.data.access, ...rest });
  const second = cookieIn(refreshed);
  t.strictSame([second.name, second.attributes], [cookieName, cookieAttributes(1_209_600)]);
  t.not(second.value, first.value);
  t.equal(sessionIdIn(second.value), sessionIdIn(access));
  t.equal((await me(refreshed.body.data.access)).status, 200);
  for (const response of [login, refreshed]) {
    t.notOk(response.text.includes(cookieIn(response).value), 'not in the body');
    t.notOk(app.logs.join('').includes(cookieIn(response).value), 'nor in the log');
    t.notOk(String(response.headers['set-cookie']).includes(response.body.data.access));
  }

  const loggedOut = await send('logout', { origin: frontend, cookie: second.value, body: {} });
  t.strictSame(loggedOut.body.data, {});
  isCleared(t, loggedOut);
  tokenRejected(t, await me(refreshed.body.data.access), 'revoked');
});

t.test('a client that is no browser sends no Origin, and the body may be missing', async (t) => {
  const user = await createUser(app);
  const refreshed = await send('token/refresh', { cookie: user.refresh });
  t.equal((await send('logout', { cookie: cookieIn(refreshed).value })).status, 200);
});

t.test('a refresh token in the body moves into the cookie', async (t) => {
  const [user, other] = [await createUser(app), await createUser(app)];
  const response = await send('token/refresh', { cookie: other.refresh, body: { refresh: user.refresh } });
  t.equal(response.body.data.refresh, undefined, 'it is not in the response');
  t.equal(sessionIdIn(cookieIn(response).value), sessionIdIn(user.refresh));
});

t.test('without the header no cookie is set, cleared or read', async (t) => {
  const user = await createUser(app);
  const login = await send('login', { headers: {}, body: { username: user.username, password } });
  t.ok(login.body.data.refresh);
  const responses = [
    login,
    await send('token/refresh', { headers: {}, body: { refresh: login.body.data.refresh } }),
    await send('logout', { headers: {}, cookie: user.refresh, token: login.body.data.access }),
  ];
  for (const { status, headers } of responses)
    t.strictSame([status, headers['set-cookie']], [200, undefined]);

  for (const path of ['token/refresh', 'logout']) {
    const response = await send(path, { headers: {}, cookie: user.refresh, body: {} });
    rejected(t, response, 401, 'not_authenticated');
    await isUntouched(t, user, response);
  }
  const refused = await send('token/refresh', { headers: {}, body: {} });
  const texts = invalid(t, refused, 'refresh');
  t.strictSame(texts.refresh, ['필수 항목입니다.'], 'as in a client without cookies');
});

t.test('without a cookie a refresh and a logout are not_authenticated', async (t) => {
  const user = await createUser(app);
  for (const cookie of [undefined, `${cookieName}=`, 'other=1', `dure-refresh=${user.refresh}`]) {
    for (const path of ['token/refresh', 'logout']) {
      const response = await send(path, { ...(cookie ? { cookie } : {}), body: {} });
      rejected(t, response, 401, 'not_authenticated');
    }
  }
  const withBearer = await send('token/refresh', { token: user.token, body: {} });
  rejected(t, withBearer, 401, 'not_authenticated');
});

/** Origins that are not the one of the frontend. */
const strangers = [
  ...['null', '', 'https://evil.example.com', 'http://app.example.com', 'https://app.example.com:444'],
  ...['https://app.example.com.evil.com', 'https://APP.example.com', 'https://app.example.com/'],
  `${frontend}, ${frontend}`,
  // Of the service itself, where no page of the frontend is.
  'https://api.example.com',
];
/** Values of `X-Refresh-Token` other than `cookie`. */
const otherModes = ['', 'body', 'Cookie', 'cookie, cookie', 'true'];
const formTypes = ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'];

const refusals: Record<string, Sent[]> = {
  not_authenticated: strangers.map((origin) => ({ origin, body: {} })),
  validation_error: otherModes.map((value) => ({ headers: { 'x-refresh-token': value } })),
  unsupported_media_type: formTypes.map((type) => ({
    headers: { 'content-type': type },
    body: 'x-refresh-token=cookie&{}=',
  })),
};

t.test('the cookie does not count on a page of another origin, in another mode or in a form', async (t) => {
  const user = await createUser(app);
  for (const [code, requests] of Object.entries(refusals)) {
    for (const request of requests) {
      for (const path of ['token/refresh', 'logout']) {
        const response = await send(path, { ...request, cookie: user.refresh });
        t.equal(response.body.data.code, code, JSON.stringify(request));
        await isUntouched(t, user, response);
      }
    }
  }
  const body = { username: user.username, password };
  const login = await send('login', { headers: { 'x-refresh-token': 'true' }, body });
  t.strictSame([login.status, login.headers['set-cookie']], [400, undefined], 'nor does a login set one');
});

t.test('a page of another origin that has an access token does not clear the cookie', async (t) => {
  const [user, other] = [await createUser(app), await createUser(app)];
  const response = await send('logout', { origin: 'null', token: other.token, cookie: user.refresh });
  t.equal(response.status, 200);
  await isUntouched(t, user, response);
});

t.test('every other operation ignores the cookie', async (t) => {
  const user = await createUser(app);
  for (const path of ['/auth/me/', '/auth/sessions/', '/api/v1/posts/']) {
    const headers = { ...mode, cookie: `${cookieName}=${user.refresh}` };
    const response = await app.call('GET', path, { headers });
    rejected(t, response, 401, 'not_authenticated');
    t.equal(response.headers['set-cookie'], undefined);
  }
});

t.test('a rejected refresh clears the cookie', async (t) => {
  const user = await createUser(app);
  const [ended, stolen] = [await createUser(app), await createUser(app)];
  await suspend(app, ended);
  // Used again after its rotation, when the grace period is over.
  await send('token/refresh', { cookie: stolen.refresh });
  await app.pool.query(
    `UPDATE sessions SET rotated_at = ARRAY(SELECT t - interval '11 s' FROM unnest(rotated_at) t) WHERE id = $1`,
    [sessionIdIn(stolen.refresh)],
  );
  for (const [cookie, reason] of [
    [user.token, 'wrong_type'],
    ['nonsense', 'malformed'],
    ['%E0%A4%A', 'malformed'],
    ['a'.repeat(5_000), 'malformed'],
    [stolen.refresh, 'reused'],
    [ended.refresh, 'revoked'],
  ] as const) {
    const paths = ['reused', 'revoked'].includes(reason) ? ['token/refresh'] : ['token/refresh', 'logout'];
    for (const path of paths) {
      const response = await send(path, { origin: frontend, cookie, body: {} });
      tokenRejected(t, response, reason, 'refresh');
      isCleared(t, response);
    }
  }
  t.equal((await me(user.token)).status, 200, 'an access token in the cookie ends nothing');
});

t.test('a logout with an access token clears the cookie, and ends its session as well', async (t) => {
  const user = await createUser(app);
  const own = await send('logout', { origin: frontend, token: user.token, cookie: user.refresh });
  t.equal(own.status, 200);
  isCleared(t, own);

  const [tab, browser] = [await createUser(app), await createUser(app)];
  const mixed = await send('logout', { origin: frontend, token: tab.token, cookie: browser.refresh });
  t.equal(mixed.status, 200);
  isCleared(t, mixed);
  for (const { token } of [tab, browser]) tokenRejected(t, await me(token), 'revoked');

  const last = await createUser(app);
  isCleared(t, await send('logout', { token: last.token }));
  const stale = await send('logout', { token: last.token, cookie: tab.refresh });
  tokenRejected(t, stale, 'revoked');
  isCleared(t, stale);
});

t.test('a failed login keeps the cookie', async (t) => {
  const user = await createUser(app);
  const body = { username: user.username, password: 'wrong' };
  const response = await send('login', { origin: frontend, cookie: user.refresh, body });
  rejected(t, response, 401, 'invalid_credentials');
  await isUntouched(t, user, response);
});

t.test('the cookie survives 429 and 503', async (t) => {
  const user = await createUser(app);
  const limited = await app.startInstance({}, { timeLimit: 1_000, serverErrors: true });
  const counted = await app.startInstance({ RATE_LIMIT_ENABLED: 'true' });
  const lock = await lockRows(t, app, 'SELECT FROM sessions WHERE user_id = $1 FOR UPDATE', [user.id]);
  const unavailable = await send('token/refresh', { cookie: user.refresh }, limited);
  rejected(t, unavailable, 503, 'service_unavailable');
  await lock.release();
  t.equal(unavailable.headers['set-cookie'], undefined);
  const responses = await inParallel(60, () => send('token/refresh', {}, counted));
  t.strictSame(tally(responses), { '401 not_authenticated': 60 });
  const refused = await send('token/refresh', { cookie: user.refresh }, counted);
  t.strictSame([refused.status, refused.headers['set-cookie']], [429, undefined]);
});

t.test('on plain HTTP the cookie has another name and is not Secure, but in production it is', async (t) => {
  const secure = cookieAttributes(1_209_600);
  for (const [environment, name, expected] of [
    [{}, 'dure-refresh', secure.filter((one) => one !== 'Secure')],
    [production, cookieName, secure],
  ] as const) {
    const instance = await app.startInstance({ ...environment, PUBLIC_URL: 'http://localhost:3000' });
    const user = await createUser(instance);
    const response = await send('token/refresh', { cookie: `${name}=${user.refresh}` }, instance);
    const cookie = cookieIn(response);
    t.strictSame([cookie.name, cookie.attributes], [name, expected]);
  }
});

t.test('every operation that has a refresh token in its body or its response takes the header', async (t) => {
  const { document, operations } = contract;
  const hasToken = (part: unknown): boolean => {
    const text = JSON.stringify(part) ?? '';
    const names = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
    return /"refresh":\{/.test(text) || names.some((name) => hasToken(document.components.schemas[name]));
  };
  const ids = (list: typeof operations) => list.map(({ operationId }) => operationId);
  const withToken = operations.filter(({ requestBody, responses }) => hasToken([requestBody, responses]));
  const withHeader = operations.filter(({ parameters }) =>
    parameters?.some(({ name }) => name === 'X-Refresh-Token'),
  );
  t.ok(withHeader.length > 0);
  t.strictSame(ids(withToken), ids(withHeader));
});
