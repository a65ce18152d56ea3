import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createTestApp, createUser, logIn, password, testEnvironment } from '../support/app.ts';
import { rejected, tokenRejected } from '../support/assertions.ts';
import { accountsOf, newEmail, signUpBody, verifyAddress } from './accounts.ts';
import { newResetLink } from './mailbox.ts';
import { createForge, decode, now, signInput, signText, type TokenParts } from './tokens.ts';

const app = await createTestApp();
const secret = testEnvironment.JWT_SECRET;

const { post, me, refresh, signUp, newCode, validateReset } = accountsOf(app);
const user = await createUser(app);
const genuine = decode(user.token);
const forge = createForge({ secret, ...genuine });

/** Reads the account with an `Authorization` header. */
const readWith = (authorization: string, headers: Record<string, string> = {}) =>
  app.call('GET', '/auth/me/', { headers: { authorization, ...headers } });

const read = (token: string) => readWith(`Bearer ${token}`);

t.test('an issued token is accepted, and the scheme is case-insensitive', async (t) => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER '])
    t.equal((await readWith(`${scheme} ${user.token}`)).body.data.id, user.id);
  t.equal((await read(forge())).status, 200, 'one that the test signs is as good');
  const header = JSON.stringify(Object.fromEntries(Object.entries(genuine.header).reverse()));
  const reordered = signText(` ${header}`, JSON.stringify(genuine.claims), secret);
  t.equal((await read(reordered)).status, 200, 'whatever the order of its fields');
});

t.test('without Bearer credentials a request is not_authenticated', async (t) => {
  rejected(t, await app.call('GET', '/auth/me/'), 401, 'not_authenticated');
  const { token } = user;
  for (const authorization of [
    ...['', 'Basic dXNlcjpwYXNzd29yZA==', 'Bearer', 'Bearer ', 'Bearer    ', 'bearer\t', token],
    ...['Basic ', 'Token ', 'JWT ', 'Bearer', 'x Bearer '].map((scheme) => scheme + token),
  ]) {
    rejected(t, await readWith(authorization), 401, 'not_authenticated');
  }
  const headers = { cookie: `access=${token}; token=${token}` };
  const elsewhere = await app.call('GET', `/auth/me/?token=${token}&access_token=${token}`, { headers });
  rejected(t, elsewhere, 401, 'not_authenticated');
});

t.test('the rejection of a token is in the language of the request', async (t) => {
  const korean = await readWith('Bearer x');
  const english = await readWith('Bearer x', { 'accept-language': 'en' });
  t.equal(english.body.data.detail, 'Given token not valid for any token type.');
  t.match(english.body.data.messages[0].message, /invalid/i);
  t.match(korean.body.data.messages[0].message, /[가-힣]/);
});

t.test('anything that is not a JWT is malformed', async (t) => {
  const [header = '', claims = '', signature = ''] = user.token.split('.');
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const headers = [header.slice(1), `${header}=`, `!${header}`, '', encode('null'), encode('{')];
  for (const token of [
    ...['x', '.', '..', '...', 'null', 'undefined', 'a.b.c', '토큰', `${header}.${claims}`],
    ...[`${user.token}.x`, `${user.token}.`, `.${user.token}`, `"${user.token}"`],
    ...[`${user.token} ${user.token}`, `${user.token}, Bearer ${user.token}`],
    ...headers.map((wrong) => `${wrong}.${claims}.${signature}`),
    ...[claims.slice(1), `${claims}=`, ''].map((wrong) => `${header}.${wrong}.${signature}`),
    ...['{}', '[]', 'null'].map((part) => signText(part, part, secret)),
    ...['{"sub":', ''].map((text) => signText(JSON.stringify(genuine.header), text, secret)),
    ...['@@@@', `${claims}==`, '%00'].map((text) => signInput(`${header}.${text}`, secret)),
    ...['A'.repeat(100_000), `${'A'.repeat(50_000)}.${'A'.repeat(50_000)}.A`],
    forge({ claims: { padding: 'x'.repeat(100_000) } }),
  ]) {
    tokenRejected(t, await read(token), 'malformed');
  }
});

t.test('a wrong signature is malformed', async (t) => {
  const [header = '', claims = '', signature = ''] = user.token.split('.');
  const other = createForge({ secret, ...decode((await createUser(app)).token) })();
  const changed = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
  for (const wrong of [
    ...[-1, -4, 10, 0].map((length) => signature.slice(0, length)),
    ...['A', 'AAAA', '=', '==', '!', '\u00e9', signature].map((more) => signature + more),
    ...['A', changed, signature.toLowerCase(), other.split('.')[2]],
    Buffer.from(signature, 'base64url').toString('hex'),
    Buffer.alloc(32).toString('base64url'),
  ]) {
    tokenRejected(t, await read(`${header}.${claims}.${wrong}`), 'malformed');
  }
  tokenRejected(t, await read(`${header}.${other.split('.')[1]}.${signature}`), 'malformed');
  tokenRejected(t, await read(forge({ secret: `${secret}!` })), 'malformed');
  tokenRejected(t, await read(forge({ secret: '' })), 'malformed');
});

t.test('a header that is not issued is malformed', async (t) => {
  const [rs256 = ''] = forge({ header: { alg: 'RS256' } }).split(/[^.]*$/);
  const [unsigned = ''] = forge({ header: { alg: 'none' } }).split(/[^.]*$/);
  const tokens = [
    unsigned,
    rs256 + randomBytes(256).toString('base64url'),
    forge({ header: { alg: 'HS384' }, hash: 'sha384' }),
    ...[{}, { alg: 'HS512' }].map((header) => forge({ header, hash: 'sha512' })),
    signText(`{"alg":"none","alg":"HS512"}`, JSON.stringify(genuine.claims), secret),
  ];
  const { kid } = genuine.header;
  const headers: Record<string, unknown>[] = [
    ...['none', 'None', 'RS256', 'ES256', 'hs256', 'HS512', ''].map((alg) => ({ alg })),
    ...[null, undefined, 5, ['HS256'], {}].map((alg) => ({ alg })),
    ...['unknown', '', '__proto__', '../../etc/passwd', `${kid} `, 'x'.repeat(5000)].map((kid) => ({ kid })),
    ...[undefined, null, 5, ['a'], {}, [kid]].map((kid) => ({ kid })),
    ...['at+jwt', 'JWE', '', undefined, null, 5, ['JWT']].map((typ) => ({ typ })),
    ...[['exp'], ['b64'], ['unknown'], [], 'exp', null, {}].map((crit) => ({ crit, b64: true })),
  ];
  for (const header of headers) tokens.push(forge({ header }));
  for (const token of tokens) tokenRejected(t, await read(token), 'malformed');
});

t.test('an expired token is rejected as expired, a refresh token as one of another type', async (t) => {
  for (const exp of [now() - 1, now(), now() - 86_400, 1, 0, -1]) {
    tokenRejected(t, await read(forge({ claims: { exp } })), 'expired');
  }
  tokenRejected(t, await read(user.refresh), 'wrong_type');
  t.equal((await read(forge({ claims: { exp: now() + 30 } }))).status, 200);
});

t.test('claims that are not issued are malformed', async (t) => {
  const { sid } = genuine.claims;
  const wrong: Record<string, unknown[]> = {
    sub: [
      ...['0', '-1', '01', '1.0', `${user.id} `, '1e1', 'x', '', '2147483648', '9'.repeat(30)],
      ...[user.id, null, [String(user.id)], {}, true],
    ],
    sid: ['x', '', 5, null, `${sid} `, `{${sid}}`, sid.toUpperCase(), [sid], "' OR 1=1 --"],
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
      tokenRejected(t, await read(forge({ claims: { [name]: value } })), 'malformed');
    }
  }
});

t.test('an extreme expiry time is not an error', async (t) => {
  for (const exp of [1.5, -1.5, -8.7e15, -1e300, -Number.MAX_VALUE]) {
    const response = await read(forge({ claims: { exp } }));
    t.match(response.body.data.reason, /^(expired|malformed)$/);
    tokenRejected(t, response, response.body.data.reason);
  }
  for (const exp of [now() + 900.5, 8.7e15, 1e300, Number.MAX_VALUE]) {
    const response = await read(forge({ claims: { exp } }));
    t.ok(response.status === 200 || response.body.data.reason === 'malformed', response.text);
  }
});

t.test('a payload that is not an object is malformed', async (t) => {
  const payloads = [null, [], [genuine.claims], 'text', '', 5, 0, true, {}, { sub: String(user.id) }];
  for (const payload of payloads) tokenRejected(t, await read(forge({ payload })), 'malformed');
});

t.test('user and session must belong together', async (t) => {
  const other = await createUser(app);
  const foreign: TokenParts[] = [
    { claims: { sid: decode(other.token).claims.sid } },
    { claims: { sub: String(other.id) } },
    { claims: { sub: '2147483647' } },
    { claims: { sid: '00000000-0000-4000-8000-000000000000' } },
  ];
  for (const parts of foreign) tokenRejected(t, await read(forge(parts)), 'revoked');
  t.equal((await read(user.token)).status, 200, 'no session ends');
  t.equal((await read(other.token)).status, 200);
});

t.test('a token of an expired session is revoked', async (t) => {
  const { token } = await logIn(app, user);
  await app.pool.query('UPDATE sessions SET expires_at = now() WHERE id = $1', [decode(token).claims.sid]);
  tokenRejected(t, await read(token), 'revoked');
});

// The steps of a rotation of the secret.
const second = 'the second secret of these tests 0123456789';
const third = 'a third one, never used for long 0123456789';
const during = await app.startInstance({ JWT_SECRET: `${second},${secret}` });
const after = await app.startInstance({ JWT_SECRET: second });

t.test('the first secret signs, all verify, and a removed one does not', async (t) => {
  const signed = await logIn(during, user);
  for (const at of [during, after]) t.equal((await me(signed.token, at)).status, 200);
  tokenRejected(t, await me(signed.token), 'malformed');
  t.equal((await me(user.token)).status, 200);
  t.equal((await me(user.token, during)).status, 200);
  t.equal((await me(forge(), during)).status, 200);
  tokenRejected(t, await me(forge({ claims: { exp: 1 } }), during), 'expired');
  tokenRejected(t, await me(user.token, after), 'malformed');
  tokenRejected(t, await refresh(user.refresh, after), 'malformed', 'refresh');
});

t.test('a refresh signs with the first secret', async (t) => {
  const session = await logIn(app, user);
  const { access, refresh: next } = (await refresh(session.refresh, during)).body.data;
  t.equal((await me(access, after)).status, 200);
  t.equal((await refresh(next, after)).status, 200);
});

t.test('a token with the key id of another secret is malformed', async (t) => {
  const [one, other] = [decode(user.token), decode((await logIn(during, user)).token)];
  for (const [header, signing] of [
    [one.header, second],
    [other.header, secret],
    [one.header, third],
    [other.header, third],
  ] as const) {
    const forge = createForge({ secret: signing, header, claims: one.claims });
    tokenRejected(t, await me(forge(), during), 'malformed');
  }
});

t.test('links, codes and proofs work during a rotation of the secret, and not after it', async (t) => {
  const { email } = user;
  const link = await newResetLink(app, email);
  t.equal((await validateReset(link, during)).status, 200);
  rejected(t, await validateReset(link, after), 400, 'reset_link_invalid');
  const code = await newCode(email);
  const confirmed = await post('email-verify/confirm', { email, code }, {}, after);
  rejected(t, confirmed, 400, 'invalid_code', { attempts_left: 4 });
  t.equal((await post('email-verify/confirm', { email, code }, {}, during)).status, 200);

  const body = signUpBody();
  const verification_token = await verifyAddress(app, body.email);
  const proven = { ...body, verification_token };
  rejected(t, await signUp(proven, {}, after), 400, 'verification_token_invalid');
  t.match(await signUp(proven, {}, during), { status: 201, body: { data: { is_verified: true } } });
});

t.test('an idempotency key works during a rotation of the secret', async (t) => {
  const body = signUpBody();
  const headers = { 'idempotency-key': 'kept-through-the-rotation' };
  const one = await signUp(body, headers);
  const again = await signUp(body, headers, during);
  t.equal(again.text, one.text);
});

t.test('what is no token at all has the code of a wrong token', async (t) => {
  const new_password = 'rice-cake-at-dawn-3';
  for (const token of ['', ' ', 'x', 'x'.repeat(5_000)])
    for (const [path, body, code, caller] of [
      ['email-verify/confirm', { token }, 'invalid_code'],
      ['reset-password-confirm', { uid: token, token, new_password }, 'reset_link_invalid'],
      ['change-email/undo', { token }, 'undo_link_invalid'],
      ['signup', signUpBody({ verification_token: token }), 'verification_token_invalid'],
      ['login/second-factor', { second_factor_token: token, code: '123456' }, 'second_factor_token_invalid'],
      ['identities', { link_token: token }, 'link_token_invalid', user],
      [
        'change-email',
        { password, new_email: newEmail(), verification_token: token },
        'verification_token_invalid',
        user,
      ],
    ] as const) {
      const response = await app.call('POST', `/auth/${path}/`, { ...caller, body });
      t.match(
        response,
        { status: 400, body: { data: { code } } },
        `${path}: ${JSON.stringify(token.slice(0, 9))}`,
      );
    }
  tokenRejected(t, await refresh(''), 'malformed', 'refresh');
});
