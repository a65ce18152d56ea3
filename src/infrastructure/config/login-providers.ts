import { parsePrivateKey } from './keys.ts';
import { asText, ConfigError, splitList, textThat, url, type Variables } from './readers.ts';

const known: Record<string, { name: Record<'ko' | 'en', string>; issuer: string; scope: string }> = {
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
const development = {
  kind: 'development' as const,
  id: 'development',
  name: { ko: '개발용 로그인', en: 'Development login' },
};

/** A provider with which users log in. The kinds differ from plain OpenID Connect in what their adapters do. */
export type LoginProviderSettings = typeof development | ReturnType<typeof readProvider>;

/** The methods of a session are the ids of providers and these. */
const reservedIds = [development.id, 'password', 'passkey', 'totp'];

const isId = (text: string) => /^[a-z][a-z0-9-]{0,29}$/.test(text) && !reservedIds.includes(text);

/** The providers in the order of `LOGIN_PROVIDERS`, whose problems are among those of the variables. */
export function readLoginProviders(
  variables: Variables,
  { production }: { production: boolean },
): LoginProviderSettings[] {
  const { read, problems } = variables;
  const list = read('LOGIN_PROVIDERS', asText);
  if (list === undefined) return production ? [] : [development];
  const ids = splitList(list);
  for (const id of ids.filter((one) => !isId(one))) {
    problems.push(
      `LOGIN_PROVIDERS holds "${id}": a name has at most 30 of a-z, 0-9 and -, begins with a letter, and is not ${reservedIds.join(', ')}`,
    );
  }
  if (new Set(ids).size < ids.length) problems.push('LOGIN_PROVIDERS must not name a provider twice');
  return ids.filter(isId).map((id) => readProvider(id, variables, { production }));
}

function readProvider(
  id: string,
  { source, read, problems }: Variables,
  { production }: { production: boolean },
) {
  /** Without a default it must be set. */
  function readText(suffix: string, byDefault?: string, reader = asText): string {
    const name = `LOGIN_${id.toUpperCase().replaceAll('-', '_')}_${suffix}`;
    const isMissing = byDefault === undefined && !source[name];
    if (isMissing) problems.push(`${name} must be set with ${id} in LOGIN_PROVIDERS`);
    return read(name, (text) => text && reader(text), byDefault ?? '');
  }
  const checkUrl = url({ continuation: 'other paths', reason: production && 'secrets are sent there' });
  /** As it is, because issuers are compared. */
  const urlAsGiven = (given: string) => checkUrl(given) && given;
  const isOpenId = id !== 'naver';
  const { name, issuer, scope } = known[id] ?? { name: { ko: id, en: id }, scope: 'openid email profile' };
  const displayName = readText('DISPLAY_NAME', '');
  const client = {
    id,
    name: displayName === '' ? name : { ko: displayName, en: displayName },
    clientId: readText('CLIENT_ID'),
    // Apple's is made from its key.
    clientSecret: id === 'apple' ? '' : readText('CLIENT_SECRET'),
    issuer: isOpenId ? readText('ISSUER', issuer, urlAsGiven) : readText('BASE_URL', issuer, checkUrl),
    // Separated by blanks; may be empty.
    scope: readText('SCOPES', scope, isOpenId ? openIdScope : asText),
  };
  if (id === 'naver') {
    const apiUrl = readText('API_URL', 'https://openapi.naver.com', checkUrl);
    return { kind: 'naver' as const, ...client, apiUrl };
  }
  if (id === 'kakao') {
    const userInfoUrl = readText('USER_INFO_URL', 'https://kapi.kakao.com/v2/user/me', urlAsGiven);
    return { kind: 'kakao' as const, ...client, userInfoUrl };
  }
  if (id !== 'apple') return { kind: 'openid' as const, ...client };
  const key = { teamId: readText('TEAM_ID'), keyId: readText('KEY_ID') };
  const privateKey = readText('PRIVATE_KEY', undefined, checkAppleKey);
  return { kind: 'apple' as const, ...client, ...key, privateKey };
}

const openIdScope = textThat((text) => text.split(' ').includes('openid'), 'must hold openid');

/** @returns the key in PEM, which may have been in one line, as many tools keep it */
function checkAppleKey(given: string): string {
  const pem = given.replaceAll('\\n', '\n');
  if (parsePrivateKey(pem)?.algorithm === 'ES256') return pem;
  throw new ConfigError('must be the key that Apple gives, in PEM: -----BEGIN PRIVATE KEY-----');
}
