import type { ServerResponse } from 'node:http';
import t from 'tap';
import { rejected } from '../../support/assertions.ts';
import type { Faults, IdentityProvider } from '../../support/identity-provider.ts';
import { newAccount, startProviders } from './setup.ts';

const app = await startProviders();
const { kakao, naver, apple, acme, other, logs } = app;

const jsonOf = (value: object) => (response: ServerResponse) => void response.end(JSON.stringify(value));

/** A login while a provider does something wrong. */
const logInWithFault = (provider: IdentityProvider, faults: Faults) =>
  app.withFaults(provider, faults, () => app.logInWith(provider, newAccount()));

/** A response of the token endpoint in place of the right one. */
const tokenResponse = (fields: object): Faults => ({
  responses: { '/token': jsonOf({ access_token: 'x', token_type: 'bearer', ...fields }) },
});

const refused: Record<string, Faults> = {
  'the nonce of another login': { claims: { nonce: 'another' } },
  'no nonce': { claims: { nonce: undefined } },
  'another audience': { claims: { aud: 'another client' } },
  'several audiences and no authorized party': { claims: { aud: ['client of acme', 'another'] } },
  'another issuer': { claims: { iss: 'https://evil.example.com' } },
  'the issuer of another provider': { claims: { iss: other.url } },
  'an expiry in the past': { claims: { exp: 1_700_000_000 } },
  'no expiry': { claims: { exp: undefined } },
  'no subject': { claims: { sub: undefined } },
  'an empty subject': { claims: { sub: '' } },
  'a subject of 256 characters': { claims: { sub: 'x'.repeat(256) } },
  'a subject with a control character': { claims: { sub: 'a\u0000b' } },
  'no signature (alg none)': { sign: 'none' },
  'a signature with the client secret (HS256)': { sign: 'secret' },
  'a signature with another key of the same id': { sign: 'foreign key' },
  'no value': tokenResponse({}),
  'a text as its value': tokenResponse({ id_token: 'x' }),
};

for (const [what, faults] of Object.entries(refused)) {
  t.test(`an ID token with ${what} is refused`, async (t) => {
    rejected(t, await logInWithFault(acme, faults), 400, 'provider_refused');
    t.match(logs.slice(-2).join(), /"cause":"acme: ./, 'the log has the provider and the reason');
  });
}

const status =
  (code: number, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(code, headers).end('{}');
const huge = (response: ServerResponse) => {
  const chunk = Buffer.alloc(65_536, ' ');
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write);
  write();
};
const unavailable = { status: 503, body: { data: { code: 'service_unavailable' } } };
const broken: Record<string, (response: ServerResponse) => void> = {
  'a server error': status(503),
  'a redirect': status(302, { location: `${acme.url}/jwks` }),
  'an endless response': huge,
  'what is not JSON': (response) => response.end('<html>access_token=abc</html>'),
  'half a response': (response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{"access_token":');
    setImmediate(() => response.destroy());
  },
};

for (const [what, respond] of Object.entries(broken)) {
  t.test(`${what} is a provider that does not answer, and touches no other login`, async (t) => {
    for (const [provider, path] of [
      [acme, '/token'],
      [kakao, '/v2/user/me'],
      [naver, '/oauth2.0/token'],
      [naver, '/v1/nid/me'],
      [apple, '/token'],
    ] as const) {
      const response = await logInWithFault(provider, { responses: { [path]: respond } });
      t.match(response, unavailable, `${provider.id}${path}`);
    }
    t.equal((await app.logInWith(other, newAccount())).body.data.code, 'sign_up_required');
  });
}

t.test('discovery and keys that cannot be read, too; the next login reads them again', async (t) => {
  const fresh = await startProviders({}, app);
  const start = () => fresh.post('providers/acme/start', { purpose: 'login' });
  for (const respond of [...Object.values(broken), jsonOf({ issuer: 'https://evil.example.com' })]) {
    fresh.acme.faults = { responses: { '/.well-known/openid-configuration': respond } };
    t.match(await start(), unavailable);
  }
  fresh.acme.faults = { responses: { '/jwks': status(500) } };
  t.equal((await fresh.logInWith(fresh.acme, newAccount())).status, 503);
  fresh.acme.faults = {};
  t.equal((await fresh.logInWith(fresh.acme, newAccount())).status, 403);
  fresh.acme.requests.length = 0;
  await fresh.logInWith(fresh.acme, newAccount());
  const paths = fresh.acme.requests.map(({ path }) => path);
  t.strictSame(paths, ['/token'], 'what was read is kept');
});

/** Milliseconds of all calls together. */
const callTime = 8_000;

t.test('all calls of one login end within eight seconds', async (t) => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const limits: AbortController[] = [];
  t.intercept(AbortSignal, 'timeout', {
    value(milliseconds: number) {
      if (milliseconds !== callTime) return timeout(milliseconds);
      const limit = new AbortController();
      limits.push(limit);
      return limit.signal;
    },
  });
  // The time is over while the provider says nothing.
  const hang = () => limits.at(-1)?.abort(new DOMException('too late', 'TimeoutError'));
  for (const path of ['/token', '/v2/user/me']) {
    t.match(await logInWithFault(kakao, { responses: { [path]: hang } }), unavailable);
  }
  t.equal(limits.length, 4, 'one for each start and each finish');
});

t.test('a client that the provider does not know is a fault of the operator', async (t) => {
  const wrong = await startProviders({ LOGIN_ACME_CLIENT_SECRET: 'wrong' }, app);
  t.equal((await wrong.logInWith(wrong.acme, newAccount())).status, 503);
  t.match(wrong.logs.join(), /acme: .*invalid_client/);
});

t.test('a code that the provider has not issued is refused', async (t) => {
  for (const provider of [acme, naver, kakao, apple]) {
    const sent = await app.answer(provider, await app.begin(provider), newAccount());
    rejected(t, await app.finish(provider, { ...sent, code: 'guessed' }), 400, 'provider_refused');
  }
});

t.test('null is as if it were not there', async (t) => {
  for (const provider of [kakao, naver, acme]) {
    const user = newAccount();
    const account = await app.signUpWith(provider, user);
    const empty = { email: null, is_email_valid: null, is_email_verified: null };
    const answers = [
      { id: Number(user.id), kakao_account: { ...empty, profile: null } },
      { id: Number(user.id), kakao_account: { ...empty, profile: { nickname: null } } },
      { id: Number(user.id), kakao_account: null },
      { response: { id: user.id, email: null, name: null, nickname: null } },
    ].filter((one) => provider === acme || 'response' in one === (provider === naver));
    for (const answer of answers) {
      const respond = jsonOf(answer);
      provider.faults = {
        claims: { email: null, email_verified: null, name: null, nickname: null },
        responses: provider === acme ? {} : { '/v2/user/me': respond, '/v1/nid/me': respond },
      };
      const login = await app.logInWith(provider, user);
      t.match(login, { status: 200, body: { data: { user: { id: account.id } } } }, login.text);
    }
    provider.faults = {};
  }
});

t.test('user information of another user, or of none, is refused', async (t) => {
  const email = 'a@example.com';
  const proved = { email, is_email_valid: true, is_email_verified: true };
  const answers: [IdentityProvider, string, object][] = [
    [kakao, '/v2/user/me', { id: 1, kakao_account: proved }],
    [kakao, '/v2/user/me', { kakao_account: {} }],
    [naver, '/v1/nid/me', { resultcode: '00', message: 'success' }],
    [naver, '/v1/nid/me', { response: { id: '' } }],
    [naver, '/v1/nid/me', { response: { id: 7 } }],
  ];
  for (const [provider, path, answer] of answers) {
    const response = await logInWithFault(provider, { responses: { [path]: jsonOf(answer) } });
    rejected(t, response, 400, 'provider_refused');
  }
  other.hasProfileElsewhere = true;
  const responses = { '/userinfo': jsonOf({ sub: 'another', email, email_verified: true }) };
  rejected(t, await logInWithFault(other, { responses }), 400, 'provider_refused');
  other.hasProfileElsewhere = false;
});

t.test('the log has no secret, code, token or address of a provider', async (t) => {
  const text = logs.join();
  const secrets = ['secret of', 'code-acme', 'access-', 'refresh-', 'access_token=', '@example.com', 'eyJ'];
  for (const secret of secrets) t.notMatch(text, secret);
});
