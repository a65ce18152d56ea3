import { createPrivateKey } from 'node:crypto';
import { ConfigError, readUrl, splitList, withoutSlash } from './readers.ts';

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

const urlRules = {
  protocols: ['https:', 'http:'],
  continuation: 'other paths',
  reason: 'secrets are sent there',
};

const variable = (id: string, suffix: string) => `LOGIN_${id.toUpperCase().replaceAll('-', '_')}_${suffix}`;

interface ProvidersSettings {
  /** Of `LOGIN_PROVIDERS`. */
  list: string | undefined;
  /** The environment, because the names of a provider's variables contain its id. */
  source: NodeJS.ProcessEnv;
  production: boolean;
}

/**
 * The providers in the order of `LOGIN_PROVIDERS`.
 *
 * @throws {ConfigError} with one line for each variable that is missing or wrong
 */
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
  const read = (suffix: string) => source[variable(id, suffix)] || undefined;

  function required(suffix: string): string {
    const value = read(suffix);
    if (value === undefined)
      problems.push(`${variable(id, suffix)} must be set with ${id} in LOGIN_PROVIDERS`);
    return value ?? '';
  }

  function url(suffix: string, byDefault?: string): string {
    const value = byDefault === undefined ? required(suffix) : (read(suffix) ?? byDefault);
    try {
      if (value !== '') readUrl(value, { ...urlRules, production });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(`${variable(id, suffix)} ${error.problems[0]}`);
    }
    return value;
  }

  function readSettings(): LoginProviderSettings {
    const { name, issuer, scope } = known[id] ?? { name: { ko: id, en: id }, scope: 'openid email profile' };
    const displayName = read('DISPLAY_NAME');
    const client = {
      id,
      name: displayName === undefined ? name : { ko: displayName, en: displayName },
      clientId: required('CLIENT_ID'),
      clientSecret: id === 'apple' ? '' : required('CLIENT_SECRET'),
      issuer: url(id === 'naver' ? 'BASE_URL' : 'ISSUER', issuer),
      scope: read('SCOPES') ?? scope,
    };
    if (id === 'naver') {
      const apiUrl = withoutSlash(url('API_URL', 'https://openapi.naver.com'));
      return { kind: 'naver', ...client, issuer: withoutSlash(client.issuer), apiUrl };
    }
    if (!client.scope.split(' ').includes('openid'))
      problems.push(`${variable(id, 'SCOPES')} must hold openid`);
    if (id === 'kakao')
      return {
        kind: 'kakao',
        ...client,
        userInfoUrl: url('USER_INFO_URL', 'https://kapi.kakao.com/v2/user/me'),
      };
    if (id !== 'apple') return { kind: 'openid', ...client };
    // In one line, as many tools keep it.
    const privateKey = required('PRIVATE_KEY').replaceAll('\\n', '\n');
    if (privateKey !== '' && !isP256Key(privateKey)) {
      problems.push(
        `${variable(id, 'PRIVATE_KEY')} must be the key that Apple gives, in PEM: -----BEGIN PRIVATE KEY-----`,
      );
    }
    return { kind: 'apple', ...client, teamId: required('TEAM_ID'), keyId: required('KEY_ID'), privateKey };
  }

  return { settings: readSettings(), problems };
}

function isP256Key(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}
