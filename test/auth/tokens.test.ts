import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { noErrorLogged, refused, tokenRefused } from '../support/assertions.ts';
import { createForge, decode, now, signInput, signText } from './tokens.ts';

const secret = 'the secret that signs these tests 0123456789';
const app = await createTestApp({ JWT_SECRET: secret });
t.teardown(app.close);

const user = await createUser(app);
const genuine = decode(user.token);
const forge = createForge({ secret, ...genuine });

/** Reads the account with an `Authorization` header. */
const readWith = (authorization: string, headers: Record<string, string> = {}) =>
  app.call('GET', '/auth/me/', { headers: { authorization, ...headers } });

const read = (token: string) => readWith(`Bearer ${token}`);

t.test('an issued token is accepted, and the scheme is case-insensitive', async (t) => {
  for (const authorization of [`Bearer ${user.token}`, `bearer ${user.token}`, `BEARER  ${user.token}`]) {
    const answer = await readWith(authorization);
    t.equal(answer.status, 200);
    t.strictSame(answer.body, {
      success: true,
      message: answer.body.message,
      data: {
        id: user.id,
        username: user.username,
        name: user.name,
        email: user.email,
        role: 'user',
        is_verified: false,
      },
    });
    t.equal(answer.headers['cache-control'], 'no-store');
  }
  t.equal((await read(forge())).status, 200, 'one that the test signs is as good');
});

t.test('without Bearer credentials the answer is not_authenticated', async (t) => {
  refused(t, await app.call('GET', '/auth/me/'), 401, 'not_authenticated');
  for (const authorization of [
    '',
    'Basic dXNlcjpwYXNzd29yZA==',
    `Basic ${user.token}`,
    `Token ${user.token}`,
    `JWT ${user.token}`,
    `Bearer${user.token}`,
    user.token,
    `x Bearer ${user.token}`,
    'Bearer',
    'Bearer ',
    'Bearer    ',
    'bearer\t',
  ]) {
    refused(t, await readWith(authorization), 401, 'not_authenticated');
  }
  const elsewhere = await app.call('GET', `/auth/me/?token=${user.token}&access_token=${user.token}`, {
    headers: { cookie: `access=${user.token}; token=${user.token}` },
  });
  refused(t, elsewhere, 401, 'not_authenticated');
});

t.test('the refusal of a token is in the language of the request', async (t) => {
  const korean = await readWith('Bearer x');
  const english = await readWith('Bearer x', { 'accept-language': 'en' });
  tokenRefused(t, korean, 'malformed');
  tokenRefused(t, english, 'malformed');
  t.equal(english.body.data.detail, 'Given token not valid for any token type.');
  t.match(english.body.data.messages[0].message, /invalid/i);
  t.match(korean.body.data.detail, /[가-힣]/);
  t.match(korean.body.data.messages[0].message, /[가-힣]/);
});

t.test('anything that is not a JWT is malformed', async (t) => {
  const [header = '', claims = '', signature = ''] = user.token.split('.');
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  for (const token of [
    'x',
    '..',
    '.',
    '...',
    'null',
    'undefined',
    'a.b.c',
    '토큰',
    `${header}.${claims}`,
    `${header}.${claims}.`,
    `.${claims}.${signature}`,
    `${header}..${signature}`,
    `${user.token}.x`,
    `${user.token}.`,
    `.${user.token}`,
    `${user.token} ${user.token}`,
    `${user.token}, Bearer ${user.token}`,
    `"${user.token}"`,
    `${header.slice(1)}.${claims}.${signature}`,
    `${header}.${claims.slice(1)}.${signature}`,
    `${header}=.${claims}.${signature}`,
    `${header}.${claims}=.${signature}`,
    `!${header}.${claims}.${signature}`,
    `${encode('null')}.${claims}.${signature}`,
    `${encode('{')}.${claims}.${signature}`,
    signText('{}', '{}', secret),
    signText('[]', '[]', secret),
    signText('null', 'null', secret),
    signText(JSON.stringify(genuine.header), '{"sub":', secret),
    signText(JSON.stringify(genuine.header), '', secret),
    signInput(`${header}.@@@@`, secret),
    signInput(`${header}.${claims}==`, secret),
    signInput(`${header}.%00`, secret),
    'A'.repeat(100_000),
    `${'A'.repeat(50_000)}.${'A'.repeat(50_000)}.A`,
    forge({ claims: { padding: 'x'.repeat(100_000) } }),
  ]) {
    tokenRefused(t, await read(token), 'malformed');
  }
});

t.test('a wrong signature is malformed', async (t) => {
  const [header = '', claims = '', signature = ''] = user.token.split('.');
  const other = createForge({ secret, ...decode((await createUser(app)).token) })();
  const changed = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
  for (const wrong of [
    changed,
    signature.slice(0, -1),
    signature.slice(0, -4),
    signature.slice(0, 10),
    'A',
    `${signature}A`,
    `${signature}AAAA`,
    `${signature}=`,
    `${signature}==`,
    `${signature}!`,
    `${signature}\u00e9`,
    signature.toLowerCase(),
    signature + signature,
    other.split('.')[2],
    Buffer.from(signature, 'base64url').toString('hex'),
    Buffer.alloc(32).toString('base64url'),
  ]) {
    tokenRefused(t, await read(`${header}.${claims}.${wrong}`), 'malformed');
  }
  tokenRefused(t, await read(`${header}.${other.split('.')[1]}.${signature}`), 'malformed');
  tokenRefused(t, await read(forge({ secret: `${secret}!` })), 'malformed');
  tokenRefused(t, await read(forge({ secret: '' })), 'malformed');
});

t.test('a header that is not issued is malformed', async (t) => {
  const [rs256 = ''] = forge({ header: { alg: 'RS256' } }).split(/[^.]*$/);
  const [unsigned = ''] = forge({ header: { alg: 'none' } }).split(/[^.]*$/);
  const tokens = [
    unsigned,
    forge({ header: { alg: 'none' } }),
    forge({ header: { alg: 'None' } }),
    rs256 + randomBytes(256).toString('base64url'),
    forge({ header: { alg: 'HS384' }, hash: 'sha384' }),
    forge({ header: { alg: 'HS512' }, hash: 'sha512' }),
    forge({ hash: 'sha512' }),
    signText(`{"alg":"none","alg":"HS512"}`, JSON.stringify(genuine.claims), secret),
  ];
  const headers: Record<string, unknown>[] = [
    ...['RS256', 'ES256', 'hs256', 'HS512', '', null, undefined, 5, ['HS256'], {}].map((alg) => ({ alg })),
    ...['unknown', '', undefined, null, 5, ['a'], {}, '../../etc/passwd', 'x'.repeat(5000)].map((kid) => ({
      kid,
    })),
    { kid: [genuine.header.kid] },
    { kid: `${genuine.header.kid} ` },
    { kid: '__proto__' },
    ...['at+jwt', 'JWE', '', undefined, null, 5, ['JWT']].map((typ) => ({ typ })),
    ...[['exp'], ['b64'], ['unknown'], [], 'exp', null, {}].map((crit) => ({ crit, b64: true })),
  ];
  for (const header of headers) tokens.push(forge({ header }));
  for (const token of tokens) tokenRefused(t, await read(token), 'malformed');
});

t.test('an expired token is refused as expired', async (t) => {
  for (const exp of [now() - 1, now(), now() - 86_400, 1, 0, -1]) {
    tokenRefused(t, await read(forge({ claims: { exp } })), 'expired');
  }
  t.equal((await read(forge({ claims: { exp: now() + 30 } }))).status, 200);
});

t.test('claims that are not issued are malformed', async (t) => {
  const wrong: Record<string, unknown[]> = {
    sub: [
      user.id,
      '0',
      '-1',
      '01',
      '1.0',
      `${user.id} `,
      '1e1',
      'x',
      '',
      '2147483648',
      '9'.repeat(30),
      null,
      [String(user.id)],
      {},
      true,
    ],
    sid: [
      'x',
      '',
      5,
      null,
      `${genuine.claims.sid} `,
      `{${genuine.claims.sid}}`,
      genuine.claims.sid.toUpperCase(),
      [genuine.claims.sid],
      "' OR 1=1 --",
    ],
    exp: [String(now() + 900), null, true, {}, [now() + 900], 'never', ''],
    nbf: [now() + 60, 'later', null],
    iat: ['x', null, {}, String(now())],
    jti: ['', null, 5, {}],
    iss: ['other', '', null, 5, [genuine.claims.iss], ['other', genuine.claims.iss], {}],
    aud: ['other', '', null, 5, [genuine.claims.aud], ['other', genuine.claims.aud], {}],
    token_type: ['id', '', null, 5, ['access'], {}, 'ACCESS'],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of name === 'nbf' ? values : [undefined, ...values]) {
      tokenRefused(t, await read(forge({ claims: { [name]: value } })), 'malformed');
    }
  }
});

t.test('an extreme expiry time is not an error', async (t) => {
  for (const exp of [1.5, -1.5, -8.7e15, -1e300, -Number.MAX_VALUE]) {
    const answer = await read(forge({ claims: { exp } }));
    t.match(answer.body.data.reason, /^(expired|malformed)$/);
    tokenRefused(t, answer, answer.body.data.reason);
  }
  for (const exp of [now() + 900.5, 8.7e15, 1e300, Number.MAX_VALUE]) {
    const answer = await read(forge({ claims: { exp } }));
    t.ok(answer.status === 200 || answer.body.data.reason === 'malformed', answer.text);
  }
});

t.test('a payload that is not an object is malformed', async (t) => {
  const payloads = [null, [], [genuine.claims], 'text', '', 5, 0, true, {}, { sub: String(user.id) }];
  for (const payload of payloads) tokenRefused(t, await read(forge({ payload })), 'malformed');
});

t.test('a refresh token is not accepted as an access token', async (t) => {
  tokenRefused(t, await read(user.refresh), 'wrong_type');
});

t.test('no refusal is an error of the service', async (t) => {
  noErrorLogged(t, app.logs);
});
