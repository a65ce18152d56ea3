import { parsePrivateKey } from './private-keys.ts';
import {
  asText,
  ConfigError,
  readVariables,
  splitList,
  textThat,
  url,
  variable,
  withoutSlash,
} from './readers.ts';

interface Client {
  id: string;
  /** For people. */
  name: Record<'ko' | 'en', string>;
  clientId: string;
  /** Empty for Apple, whose secret is made from its key. */
  clientSecret: string;
  issuer: string;
  /** Separated by blanks; may be empty. */
  scope: string;
}

/** A provider with which users log in. The kinds differ from plain OpenID Connect in what their adapters do. */
export type LoginProviderSettings =
  | ({ kind: 'development' } & Pick<Client, 'id' | 'name'>)
  | ({ kind: 'openid' } & Client)
  | ({ kind: 'kakao'; userInfoUrl: string } & Client)
  | ({ kind: 'naver'; apiUrl: string } & Client)
  | ({ kind: 'apple'; teamId: string; keyId: string; privateKey: string } & Client);

const known: Record<string, { name: Client['name']; issuer: string; scope: string }> = {
  kakao: {
    name: { ko: '카카오', en: 'Kakao' },
    issuer: 'https://kauth.kakao.com',
    scope: 'openid account_email profile_nickname',
  },
  naver: { name: { ko: '네이버', en: 'Naver' }, issuer: 'https://nid.naver.com', scope: '' },
  google: {
    name: { ko: '구글', en: 'Google' },
    issuer: 'https://accounts.google.com',
    scope: 'openid email profile',
  },
  apple: {
    name: { ko: 'Apple', en: 'Apple' },
    issuer: 'https://appleid.apple.com',
    scope: 'openid name email',
  },
};

/** Outside production, where no other one is configured. */
const development: LoginProviderSettings = {
  kind: 'development',
  id: 'development',
  name: { ko: '개발용 로그인', en: 'Development login' },
};

/** The methods of a session are the ids of providers and these. */
const reservedIds = [development.id, 'password', 'passkey', 'totp'];

interface ProvidersSettings {
  /** Of `LOGIN_PROVIDERS`. */
  list: string | undefined;
  /** The environment, because the names of a provider's variables contain its id. */
  source: NodeJS.ProcessEnv;
  production: boolean;
}

/** The providers in the order of `LOGIN_PROVIDERS`. @throws {ConfigError} with one line for each variable that is missing or wrong */
export function readLoginProviders({ list, source, production }: ProvidersSettings): LoginProviderSettings[] {
  if (list === undefined) return production ? [] : [development];
  const ids = splitList(list);
  const isUsable = (id: string) => /^[a-z][a-z0-9-]{0,29}$/.test(id) && !reservedIds.includes(id);
  const problems = ids
    .filter((id) => !isUsable(id))
    .map(
      (id) =>
        `LOGIN_PROVIDERS holds "${id}": a name has at most 30 of a-z, 0-9 and -, begins with a letter, and is not ${reservedIds.join(', ')}`,
    );
  if (new Set(ids).size < ids.length) problems.push('LOGIN_PROVIDERS must not name a provider twice');
  const read = ids.filter(isUsable).map((id) => readProvider(id, { source, production }));
  problems.push(...read.flatMap((provider) => provider.problems));
  if (problems.length > 0) throw new ConfigError(...problems);
  return read.map(({ settings }) => settings);
}

function readProvider(id: string, { source, production }: Omit<ProvidersSettings, 'list'>) {
  const problems: string[] = [];
  /** Reads a variable, whose problem is collected. Without a default it must be set. */
  function read(suffix: string, byDefault?: string, check = asText): string {
    const name = `LOGIN_${id.toUpperCase().replaceAll('-', '_')}_${suffix}`;
    const missing = byDefault === undefined ? `must be set with ${id} in LOGIN_PROVIDERS` : undefined;
    const value = { ...variable(name, (given) => given && check(given), byDefault ?? ''), missing };
    const result = readVariables({ value }, source);
    problems.push(...result.problems);
    return result.values.value;
  }
  const readUrl = url({ continuation: 'other paths', reason: production && 'secrets are sent there' });
  /** @returns the text as it is, because issuers are compared */
  const checkUrl = (given: string) => readUrl(given) && given;
  const isOpenId = id !== 'naver';
  const { name, issuer, scope } = known[id] ?? { name: { ko: id, en: id }, scope: 'openid email profile' };
  const displayName = read('DISPLAY_NAME', '');
  const client = {
    id,
    name: displayName === '' ? name : { ko: displayName, en: displayName },
    clientId: read('CLIENT_ID'),
    clientSecret: id === 'apple' ? '' : read('CLIENT_SECRET'),
    issuer: read(isOpenId ? 'ISSUER' : 'BASE_URL', issuer, checkUrl),
    scope: read('SCOPES', scope, isOpenId ? openIdScope : undefined),
  };

  function readKind(): LoginProviderSettings {
    if (id === 'naver') {
      const apiUrl = read('API_URL', 'https://openapi.naver.com', checkUrl);
      return { kind: id, ...client, issuer: withoutSlash(client.issuer), apiUrl: withoutSlash(apiUrl) };
    }
    if (id === 'kakao') {
      const userInfoUrl = read('USER_INFO_URL', 'https://kapi.kakao.com/v2/user/me', checkUrl);
      return { kind: id, ...client, userInfoUrl };
    }
    if (id !== 'apple') return { kind: 'openid', ...client };
    const [teamId, keyId] = [read('TEAM_ID'), read('KEY_ID')];
    return { kind: id, ...client, teamId, keyId, privateKey: read('PRIVATE_KEY', undefined, checkAppleKey) };
  }

  return { settings: readKind(), problems };
}

const openIdScope = textThat((text) => text.split(' ').includes('openid'), 'must hold openid');

/** @returns the key in PEM, which may have been in one line, as many tools keep it */
function checkAppleKey(given: string): string {
  const pem = given.replaceAll('\\n', '\n');
  if (parsePrivateKey(pem)?.algorithm === 'ES256') return pem;
  throw new ConfigError('must be the key that Apple gives, in PEM: -----BEGIN PRIVATE KEY-----');
}
