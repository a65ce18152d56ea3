import { createPrivateKey } from 'node:crypto';
import { ConfigError, readUrl, readVariables, splitList, text, variable, withoutSlash } from './readers.ts';

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
  const read = <Table extends object>(table: Table) => {
    const result = readVariables(table, source);
    problems.push(...result.problems);
    return result.values;
  };
  const named = (suffix: string) => `LOGIN_${id.toUpperCase().replaceAll('-', '_')}_${suffix}`;
  const missing = `must be set with ${id} in LOGIN_PROVIDERS`;
  const needed = (suffix: string) => ({ ...variable(named(suffix), '', (given) => given), missing });
  const url = (suffix: string, byDefault: string | undefined) => ({
    ...variable(named(suffix), byDefault ?? '', (given) => given && checkUrl(given, { production })),
    missing: byDefault === undefined ? missing : undefined,
  });
  const isOpenId = id !== 'naver';
  const { name, issuer, scope } = known[id] ?? { name: { ko: id, en: id }, scope: 'openid email profile' };
  const { displayName, ...common } = read({
    displayName: text(named('DISPLAY_NAME')),
    clientId: needed('CLIENT_ID'),
    issuer: url(isOpenId ? 'ISSUER' : 'BASE_URL', issuer),
    scope: variable(named('SCOPES'), scope, (given) => (isOpenId ? checkScope(given) : given)),
  });
  const { clientSecret } =
    id === 'apple' ? { clientSecret: '' } : read({ clientSecret: needed('CLIENT_SECRET') });
  const names = displayName === undefined ? name : { ko: displayName, en: displayName };
  const client = { id, name: names, ...common, clientSecret };

  function readKind(): LoginProviderSettings {
    if (id === 'naver') {
      const { apiUrl } = read({ apiUrl: url('API_URL', 'https://openapi.naver.com') });
      return { kind: 'naver', ...client, issuer: withoutSlash(client.issuer), apiUrl: withoutSlash(apiUrl) };
    }
    if (id === 'kakao') {
      const byDefault = 'https://kapi.kakao.com/v2/user/me';
      return { kind: 'kakao', ...client, ...read({ userInfoUrl: url('USER_INFO_URL', byDefault) }) };
    }
    if (id !== 'apple') return { kind: 'openid', ...client };
    const privateKey = { ...variable(named('PRIVATE_KEY'), '', readAppleKey), missing };
    return {
      kind: 'apple',
      ...client,
      ...read({ teamId: needed('TEAM_ID'), keyId: needed('KEY_ID'), privateKey }),
    };
  }

  return { settings: readKind(), problems };
}

/** @returns the text as it is, because issuers are compared */
function checkUrl(given: string, { production }: { production: boolean }): string {
  const rules = { continuation: 'other paths', reason: 'secrets are sent there' };
  readUrl(given, { protocols: ['https:', 'http:'], production, ...rules });
  return given;
}

function checkScope(given: string): string {
  if (given.split(' ').includes('openid')) return given;
  throw new ConfigError('must hold openid');
}

/** @returns the key in PEM; empty without one */
function readAppleKey(given: string): string {
  // In one line, as many tools keep it.
  const pem = given.replaceAll('\\n', '\n');
  if (given === '' || isP256Key(pem)) return pem;
  throw new ConfigError('must be the key that Apple gives, in PEM: -----BEGIN PRIVATE KEY-----');
}

function isP256Key(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}
