import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { calculateJwkThumbprint, createLocalJWKSet, jwtVerify, SignJWT } from 'jose';
import t from 'tap';
import { generatePrivateKey, type PrivateKey } from '../../src/infrastructure/config/keys.ts';
import { createTestApp, createUser, logIn, type TestApp, testEnvironment } from '../support/app.ts';
import { tokenRejected } from '../support/assertions.ts';
import { accountsOf } from './accounts.ts';
import { decode, now, signText } from './tokens.ts';

const issuer = testEnvironment.PUBLIC_URL;
const audience = 'dure-api';
const [es, ed] = [generatePrivateKey('ES256'), generatePrivateKey('EdDSA')];

const withoutKeys = await createTestApp();
const app = await withoutKeys.startInstance({ JWT_PRIVATE_KEY: es.pem + ed.pem });
const edFirst = await withoutKeys.startInstance({
  JWT_PRIVATE_KEY: `${ed.pem}${es.pem}`.replaceAll('\n', '\\n'),
});
const { me, refresh } = accountsOf(app);
const user = await createUser(app);
const genuine = decode(user.token);

const jwksOf = async ({ call }: TestApp) => (await call('GET', '/.well-known/jwks.json')).body;

/** Signs the claims of a genuine token with a private key, but for what a test changes; undefined claims are left out. */
async function forge(
  { pem, algorithm, id }: Pick<PrivateKey, 'pem' | 'id'> & { algorithm: string },
  { header = {}, claims = {} }: { header?: Record<string, unknown>; claims?: Record<string, unknown> } = {},
): Promise<string> {
  const all = { ...genuine.claims, jti: randomUUID(), ...claims };
  const protectedHeader = { alg: algorithm, typ: 'JWT', kid: id, ...header };
  return new SignJWT(JSON.parse(JSON.stringify(all)))
    .setProtectedHeader(protectedHeader)
    .sign(createPrivateKey(pem));
}

for (const key of [es, ed]) {
  const instance = key === es ? app : edFirst;
  t.test(`jose verifies access tokens of ${key.algorithm} with the published keys`, async (t) => {
    const { token, refresh } = await logIn(instance, user);
    const { header, claims } = decode(token);
    const jwks = await jwksOf(instance);
    t.strictSame(header, { alg: key.algorithm, typ: 'JWT', kid: await calculateJwkThumbprint(jwks.keys[0]) });
    t.match(claims, { sub: String(user.id), iss: issuer, aud: audience, token_type: 'access' });
    const keys = createLocalJWKSet(jwks);
    const { payload } = await jwtVerify(token, keys, { issuer, audience, algorithms: [key.algorithm] });
    t.strictSame(payload, claims);
    await t.rejects(jwtVerify(refresh, keys), { code: 'ERR_JOSE_NOT_SUPPORTED' });
  });
}

t.test('refresh tokens are signed with the secret', async (t) => {
  const session = await logIn(app, user);
  t.match(decode(session.refresh), { header: { alg: 'HS256' }, claims: { iss: 'dure' } });
  const { body } = await refresh(session.refresh);
  t.equal(decode(body.data.access).header.kid, es.id);
  t.equal(decode(body.data.refresh).header['alg'], 'HS256');
  const claims = { ...decode(session.refresh).claims, iss: issuer };
  for (const key of [es, ed])
    tokenRejected(t, await refresh(await forge(key, { claims })), 'malformed', 'refresh');
  tokenRejected(t, await refresh(session.token), 'wrong_type', 'refresh');
});

t.test('the first key signs, all verify, and so does the secret', async (t) => {
  const before = await logIn(withoutKeys, user);
  t.equal(decode(before.token).header['alg'], 'HS256');
  const other = await logIn(edFirst, user);
  t.equal(decode(other.token).header.kid, ed.id);
  for (const token of [before.token, other.token, user.token, await forge(es), await forge(ed)])
    for (const instance of [app, edFirst]) t.equal((await me(token, instance)).status, 200);
  tokenRejected(t, await me(user.token, withoutKeys), 'malformed');
});

t.test('a token of a private key is checked as strictly as one of a secret', async (t) => {
  tokenRejected(t, await me(await forge(es, { claims: { exp: now() - 1 } })), 'expired');
  tokenRejected(t, await me(await forge(es, { claims: { token_type: 'refresh', count: 0 } })), 'wrong_type');
  for (const claims of [
    ...['dure', `${issuer}/`, 'https://other.example.com', [issuer], undefined].map((iss) => ({ iss })),
    ...['other', [audience], undefined].map((aud) => ({ aud })),
    ...[{ exp: undefined }, { sub: '0' }, { sid: undefined }, { token_type: 'id' }, { nbf: now() + 60 }],
  ]) {
    tokenRejected(t, await me(await forge(es, { claims })), 'malformed');
  }
  const { header, claims } = decode((await logIn(withoutKeys, user)).token);
  const ofSecret = (iss: string) =>
    signText(JSON.stringify(header), JSON.stringify({ ...claims, iss }), testEnvironment.JWT_SECRET);
  t.equal((await me(ofSecret('dure'))).status, 200);
  tokenRejected(t, await me(ofSecret(issuer)), 'malformed');
});

t.test('a key or an algorithm that is not the one of the token is malformed', async (t) => {
  const pemOf = (pair: { privateKey: { export(options: object): unknown } }) =>
    String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const rsa = { pem: pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 })), id: es.id };
  const p384 = { pem: pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' })), id: es.id };
  const stranger = generatePrivateKey('ES256');
  const payload = JSON.stringify(genuine.claims);
  const headerOf = (alg: string, kid: string | undefined) => JSON.stringify({ alg, typ: 'JWT', kid });
  const { kid: secretId } = decode(user.refresh).header;
  // The public key as an HMAC secret, in each form in which it can be had.
  const asJson = [es.jwk, await jwksOf(app)].map((value) => JSON.stringify(value));
  const publicForms = [es.publicPem, es.publicPem.trim(), ...asJson];
  const input = (await forge(es)).split('.').slice(0, 2).join('.');
  const der = sign('sha256', Buffer.from(input), es.pem).toString('base64url');
  const [unsigned = ''] = signText(headerOf('none', es.id), payload, '').split(/[^.]*$/);
  const tokens = [
    ...[unsigned, `${unsigned}${user.token.split('.')[2]}`],
    ...publicForms.flatMap((form) =>
      [es.id, secretId, undefined].map((kid) => signText(headerOf('HS256', kid), payload, form)),
    ),
    ...publicForms.map((form) => signText(headerOf('ES256', es.id), payload, form)),
    ...[{ ...es, id: ed.id }, { ...ed, id: es.id }, stranger, { ...stranger, id: es.id }].map((key) =>
      forge(key),
    ),
    ...[{ kid: undefined }, { kid: secretId }, { kid: 'unknown' }].map((header) => forge(es, { header })),
    ...[{ jwk: stranger.jwk }, { jku: 'https://evil.example.com/jwks.json' }, { x5c: [] }].flatMap(
      (header) => [forge({ ...stranger, id: es.id }, { header }), forge(stranger, { header })],
    ),
    ...['RS256', 'PS256'].map((algorithm) => forge({ ...rsa, algorithm })),
    forge({ ...p384, algorithm: 'ES384' }),
    ...[der, Buffer.alloc(64).toString('base64url'), Buffer.alloc(64, 255).toString('base64url'), ''].map(
      (signature) => `${input}.${signature}`,
    ),
    ...['EdDSA', 'ES256K', 'HS256', 'es256'].map((alg) => {
      const signed = [headerOf(alg, es.id), payload]
        .map((part) => Buffer.from(part).toString('base64url'))
        .join('.');
      const key = { key: es.pem, dsaEncoding: 'ieee-p1363' } as const;
      return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
    }),
  ];
  for (const token of await Promise.all(tokens)) tokenRejected(t, await me(token), 'malformed');
  t.equal((await me(await forge(es))).status, 200, 'the forgery without a change is accepted');
});

t.test('while keys are rotated, instances and keys of a step take the tokens of the next one', async (t) => {
  const onlyWith = ({ pem }: PrivateKey) => withoutKeys.startInstance({ JWT_PRIVATE_KEY: pem });
  const instances = [await onlyWith(es), app, edFirst, await onlyWith(ed)];
  for (const [index, next] of instances.slice(1).entries()) {
    const before = instances[index] ?? next;
    const session = await logIn(next, user);
    // Of another service, which has not asked for the keys again.
    const keys = createLocalJWKSet(await jwksOf(before));
    await t.resolves(jwtVerify(session.token, keys, { issuer, audience }));
    t.equal((await me(session.token, before)).status, 200);
    const { status, body } = await refresh(session.refresh, before);
    t.equal(status, 200);
    // In the last step, what the old key signed has expired.
    if (next !== instances.at(-1)) t.equal((await me(body.data.access, next)).status, 200);
  }
});

t.test('the published documents are public, and have no private part', async (t) => {
  const origin = { headers: { origin: 'https://elsewhere.example.com' } };
  const jwks = await app.call('GET', '/.well-known/jwks.json', origin);
  const discovery = await app.call('GET', '/.well-known/openid-configuration', origin);
  for (const { headers } of [jwks, discovery]) {
    t.match(headers, {
      'content-type': /^application\/json/,
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    });
  }
  t.strictSame(jwks.body, {
    keys: [es, ed].map(({ id, algorithm, jwk: { kty, crv, x, y } }) => ({
      ...{ kid: id, alg: algorithm, use: 'sig', kty, crv, x },
      ...(y === undefined ? {} : { y }),
    })),
  });
  t.strictSame(discovery.body, {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    id_token_signing_alg_values_supported: ['ES256', 'EdDSA'],
  });
  const { body } = await withoutKeys.call('GET', '/.well-known/openid-configuration');
  t.strictSame(body, { ...discovery.body, id_token_signing_alg_values_supported: [] });
  t.strictSame(await jwksOf(withoutKeys), { keys: [] }, 'they are there without keys, too');
});
