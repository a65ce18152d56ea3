import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { loadConfig } from '../../src/infrastructure/config/config.ts';
import { inspectConfig } from '../../src/infrastructure/config/environment.ts';
import { load, production, secret } from './environments.ts';

const client = (name: string) => ({
  [`LOGIN_${name}_CLIENT_ID`]: 'id',
  [`LOGIN_${name}_CLIENT_SECRET`]: 'secret',
});
const pemOf = (namedCurve: string) =>
  String(generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }));
const apple = {
  LOGIN_APPLE_CLIENT_ID: 'com.example.dure',
  LOGIN_APPLE_TEAM_ID: 'TEAM',
  LOGIN_APPLE_KEY_ID: 'KEY',
  LOGIN_APPLE_PRIVATE_KEY: pemOf('P-256').replaceAll('\n', '\\n'),
};

t.test('without LOGIN_PROVIDERS there is a provider for development, outside production only', async (t) => {
  for (const environment of [{}, { LOGIN_PROVIDERS: '' }]) {
    t.match(load(environment).loginProviders, [{ id: 'development', kind: 'development' }]);
    t.strictSame(loadConfig({ ...production, ...environment }).loginProviders, []);
  }
});

t.test('providers keep their order; the known ones need no issuer', async (t) => {
  const environment = {
    ...production,
    LOGIN_PROVIDERS: 'kakao, acme-id,apple,naver,google',
    ...client('KAKAO'),
    ...client('NAVER'),
    ...client('GOOGLE'),
    ...client('ACME_ID'),
    LOGIN_ACME_ID_ISSUER: 'https://login.acme.example/realm/',
    LOGIN_ACME_ID_DISPLAY_NAME: 'Acme',
    LOGIN_ACME_ID_SCOPES: 'openid email',
    ...apple,
  };
  const scope = 'openid email profile';
  const acme = { id: 'acme-id', issuer: 'https://login.acme.example/realm/' };
  t.match(loadConfig(environment).loginProviders, [
    { kind: 'kakao', issuer: 'https://kauth.kakao.com', userInfoUrl: 'https://kapi.kakao.com/v2/user/me' },
    { ...acme, kind: 'openid', name: { ko: 'Acme', en: 'Acme' }, scope: 'openid email' },
    { kind: 'apple', issuer: 'https://appleid.apple.com', privateKey: /^-----BEGIN PRIVATE KEY-----\n/ },
    { kind: 'naver', issuer: 'https://nid.naver.com', apiUrl: 'https://openapi.naver.com' },
    { kind: 'openid', id: 'google', issuer: 'https://accounts.google.com', scope },
  ]);
});

t.test('what is missing or wrong is listed, by the variable and without secrets', async (t) => {
  const problemsOf = (environment: Record<string, string>) =>
    inspectConfig({ ...production, ...environment }).problems;
  const of = (name: string, environment: Record<string, string> = {}) => ({
    LOGIN_PROVIDERS: name,
    ...client(name.toUpperCase()),
    ...environment,
  });
  const wrong: [problem: RegExp, environment: Record<string, string>][] = [
    [/LOGIN_KAKAO_CLIENT_ID must be set/, of('kakao', { LOGIN_KAKAO_CLIENT_ID: '' })],
    [/LOGIN_NAVER_CLIENT_SECRET must be set/, of('naver', { LOGIN_NAVER_CLIENT_SECRET: '' })],
    [/LOGIN_ACME_ISSUER must be set/, of('acme')],
    [/LOGIN_ACME_ISSUER must be https/, of('acme', { LOGIN_ACME_ISSUER: 'http://acme.example' })],
    [/LOGIN_NAVER_API_URL must be https/, of('naver', { LOGIN_NAVER_API_URL: 'http://a.example' })],
    [/LOGIN_KAKAO_USER_INFO_URL must be a URL/, of('kakao', { LOGIN_KAKAO_USER_INFO_URL: 'me' })],
    [/LOGIN_GOOGLE_SCOPES must hold openid/, of('google', { LOGIN_GOOGLE_SCOPES: 'email' })],
    ...[secret, pemOf('P-384')].map((key): [RegExp, Record<string, string>] => [
      /LOGIN_APPLE_PRIVATE_KEY must be the key/,
      { LOGIN_PROVIDERS: 'apple', ...apple, LOGIN_APPLE_PRIVATE_KEY: key },
    ]),
    [/LOGIN_PROVIDERS must not name a provider twice/, of('kakao', { LOGIN_PROVIDERS: 'kakao,kakao' })],
    // A provider of that name would count as another method of the session.
    ...['development', 'passkey', 'totp', 'password', 'Kakao', '1a', 'a_b', 'a'.repeat(31)].map(
      (name): [RegExp, Record<string, string>] => [/LOGIN_PROVIDERS holds "/, { LOGIN_PROVIDERS: name }],
    ),
  ];
  for (const [problem, environment] of wrong) {
    const problems = problemsOf(environment);
    t.match(problems, [problem], JSON.stringify(environment));
    t.equal(problems.length, 1, problems.join());
    t.notMatch(problems.join(), secret);
  }
});
