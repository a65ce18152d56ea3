import crypto from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError, parseUrl } from './readers.ts';

/** What templates and examples show in place of a secret. Random text of 64 characters matches less than once in a million. */
const placeholder =
  /change[-_ ]?(?:me|this|it)|replace[-_ ]?(?:me|this|it)|please[-_ ]|your[-_ .]|super[-_ ]?secret|a-string-secret|placeholder|insecure|xxxxx|[<>]/i;

/** Whether a text is an example of a secret and not a secret. */
export const isPlaceholder = (text: string) => placeholder.test(text);

/** A secret, and the short public id by which tokens and rows refer to it. */
export interface Secret {
  id: string;
  key: Buffer;
}

/** One or more; the first one signs, all verify. */
export type Secrets = [Secret, ...Secret[]];

/** Reads the secrets that sign tokens and derive codes, links and hashes. @throws {ConfigError} */
export function readSecrets(text: string, { production }: { production: boolean }): Secrets {
  const secrets = toSecrets(text);
  const isExample = (key: Buffer) => isPlaceholder(String(key)) || isRepeated(key);
  if (secrets.every(({ key }) => !isWeak(key) && !(production && isExample(key)))) return secrets;
  throw new ConfigError(
    'must hold secrets of at least 32 random bytes each and no placeholder, for example `openssl rand -base64 48`',
  );
}

/** The secrets of a value of `JWT_SECRET`, without blanks around them; an empty one where it has none. */
export function toSecrets(text: string): Secrets {
  const [first = '', ...others] = text.split(',').map((secret) => secret.trim());
  const toSecret = (secret: string) => {
    const key = Buffer.from(secret);
    const id = crypto.createHmac('sha256', key).update('dure key id').digest('base64url').slice(0, 10);
    return { id, key };
  };
  return [toSecret(first), ...others.map(toSecret)];
}

/** A new secret, as text. */
export const generateSecret = () => crypto.randomBytes(48).toString('base64url');

/** The file of the generated secret. */
export const secretPath = (dataDirectory: string) => join(dataDirectory, 'jwt-secret');

/** The generated secret, which is kept so that sessions survive a restart. Of concurrent starts the first one creates it. */
export function generatedSecrets(path: string): Secrets {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) writeNew(path, generateSecret());
  const secrets = toSecrets(readFileSync(path, 'utf8'));
  if (secrets.every(({ key }) => !isWeak(key))) return secrets;
  throw new ConfigError(`has no secret in ${path}; delete it to generate a new one`);
}

/** Writes a file, unless another process has just written it. */
function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Whether a secret is too short or repeats few bytes. */
const isWeak = (key: Buffer) => key.length < 32 || new Set(key).size < 8;

/** Whether a secret is a shorter one again and again, also where the last time is cut. */
function isRepeated(secret: Buffer): boolean {
  const periods = Array.from({ length: Math.floor(secret.length / 2) }, (_, index) => index + 1);
  return periods.some((period) => secret.subarray(period).equals(secret.subarray(0, -period)));
}

type KeyAlgorithm = 'ES256' | 'EdDSA';

/** A key that signs access tokens, which others can verify with its public half. */
export type PrivateKey = ReturnType<typeof toPrivateKey>;

/** A new key. */
export function generatePrivateKey(algorithm: KeyAlgorithm): PrivateKey {
  const { privateKey } =
    algorithm === 'ES256'
      ? crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : crypto.generateKeyPairSync('ed25519');
  return toPrivateKey(privateKey);
}

const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;

/** Reads keys that sign access tokens, the signing one first; line feeds may be written as `\n`. @throws {ConfigError} */
export function readPrivateKeys(text: string): PrivateKey[] {
  const pem = text.replaceAll('\\n', '\n');
  const blocks = pem.match(pemBlock);
  if (!blocks || pem.replaceAll(pemBlock, '').trim() !== '') {
    throw new ConfigError(
      'must hold private keys in PEM form and nothing else, for example of `openssl genpkey -algorithm ed25519`',
    );
  }
  const keys = blocks.map((block, index) => {
    const key = parsePrivateKey(block);
    if (key !== undefined) return key;
    const rule = `number ${index + 1} must be of the curve P-256 or Ed25519, and have no password`;
    throw new ConfigError(`holds a key that cannot be used: ${rule}`);
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new ConfigError('holds the same key twice');
  return keys;
}

/** One key in PEM; undefined for what cannot sign access tokens. */
export function parsePrivateKey(pem: string): PrivateKey | undefined {
  try {
    return toPrivateKey(crypto.createPrivateKey(pem));
  } catch {
    return undefined;
  }
}

const algorithms: Record<string, KeyAlgorithm> = { 'P-256': 'ES256', Ed25519: 'EdDSA' };

function toPrivateKey(privateKey: crypto.KeyObject) {
  const publicKey = crypto.createPublicKey(privateKey);
  const { kty, crv = '', x, y } = publicKey.export({ format: 'jwk' });
  const algorithm = algorithms[crv];
  if (algorithm === undefined) throw new Error('no algorithm for this kind of key');
  // The thumbprint of RFC 7638: the members that a key of its type must have, in this order. `y` is left out where there is none.
  const id = crypto.createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
  return {
    id,
    algorithm,
    /** PKCS#8. */
    pem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    publicPem: String(publicKey.export({ type: 'spki', format: 'pem' })),
    /** The public half (RFC 7517). */
    jwk: { kid: id, alg: algorithm, use: 'sig', kty, crv, x, y },
  };
}

/** Reads the key that signs requests to push services: the uncompressed point and the scalar of a P-256 key, in base64url. @throws {ConfigError} */
export function readVapidKey(privateKey: string) {
  const curve = crypto.createECDH('prime256v1');
  try {
    if (!/^[\w-]{43}$/.test(privateKey)) throw new Error('not 32 bytes');
    curve.setPrivateKey(privateKey, 'base64url');
    return { privateKey, publicKey: curve.getPublicKey('base64url') };
  } catch {
    throw new ConfigError(
      'must be the 32 bytes of a P-256 private key in base64url, for example of `npx web-push generate-vapid-keys`',
    );
  }
}

/** Derives that key from a secret, so that it survives restarts as the secret does. One of four billion secrets gives no key. */
export function deriveVapidKey(secret: Buffer) {
  return readVapidKey(
    Buffer.from(crypto.hkdfSync('sha256', secret, '', 'dure vapid key', 32)).toString('base64url'),
  );
}

/** Whether a text can be the subject of that key: in production with a host of the internet, because Apple refuses any other one. */
export function isVapidSubject(text: string, { production }: { production: boolean }): boolean {
  const [, domain] = /^mailto:[^\s@]+@([^\s@]+)$/.exec(text) ?? [];
  const url = parseUrl(domain === undefined ? text : `https://${domain}`);
  if (url?.protocol !== 'https:') return false;
  return !production || /\.(?!(localhost|invalid)$)[a-z][a-z0-9-]+$/.test(url.hostname);
}
