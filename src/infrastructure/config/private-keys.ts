import {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { ConfigError, parseUrl } from './readers.ts';

type KeyAlgorithm = 'ES256' | 'EdDSA';

/** A key that signs access tokens, which others can verify with its public half. */
export type PrivateKey = ReturnType<typeof toPrivateKey>;

/** A new key. */
export function generatePrivateKey(algorithm: KeyAlgorithm): PrivateKey {
  const { privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('ed25519');
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
    return toPrivateKey(createPrivateKey(pem));
  } catch {
    return undefined;
  }
}

const algorithms: Record<string, KeyAlgorithm> = { 'P-256': 'ES256', Ed25519: 'EdDSA' };

function toPrivateKey(privateKey: KeyObject) {
  const publicKey = createPublicKey(privateKey);
  const { kty, crv = '', x, y } = publicKey.export({ format: 'jwk' });
  const algorithm = algorithms[crv];
  if (algorithm === undefined) throw new Error('no algorithm for this kind of key');
  // The thumbprint of RFC 7638: the members that a key of its type must have, in this order. `y` is left out where there is none.
  const id = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
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

/** How the service names itself to push services (RFC 8292). */
export interface Vapid {
  /** The uncompressed point and the scalar of a P-256 key, in base64url. */
  publicKey: string;
  privateKey: string;
  /** Where the operator of a push service finds that of this one. */
  subject: string;
}

/** Reads the key that signs requests to push services. @throws {ConfigError} */
export function readVapidKey(privateKey: string): Pick<Vapid, 'publicKey' | 'privateKey'> {
  const curve = createECDH('prime256v1');
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
    Buffer.from(hkdfSync('sha256', secret, '', 'dure vapid key', 32)).toString('base64url'),
  );
}

/** Whether a text can be the subject of that key: in production with a host of the internet, because Apple refuses any other one. */
export function isVapidSubject(text: string, { production }: { production: boolean }): boolean {
  const [, domain] = /^mailto:[^\s@]+@([^\s@]+)$/.exec(text) ?? [];
  const url = parseUrl(domain === undefined ? text : `https://${domain}`);
  if (url?.protocol !== 'https:') return false;
  return !production || /\.(?!(localhost|invalid)$)[a-z][a-z0-9-]+$/.test(url.hostname);
}
