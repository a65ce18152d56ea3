import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError } from './readers.ts';

type KeyAlgorithm = 'ES256' | 'EdDSA';

/** A key that signs access tokens, which others can verify with its public half. */
export type PrivateKey = ReturnType<typeof toPrivateKey>;

/**
 * Reads the keys that sign access tokens.
 *
 * @returns the signing key first; all verify
 * @throws {ConfigError}
 */
export function readPrivateKeys({ pem, path }: Record<'pem' | 'path', string | undefined>): PrivateKey[] {
  if (pem !== undefined && path !== undefined)
    throw new ConfigError('JWT_PRIVATE_KEY and JWT_PRIVATE_KEY_FILE must not both be set');
  if (pem !== undefined) return parseKeys('JWT_PRIVATE_KEY', pem);
  if (path === undefined) return [];
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(
      `JWT_PRIVATE_KEY_FILE cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
  return parseKeys('JWT_PRIVATE_KEY_FILE', text);
}

/** A new key. */
export function generatePrivateKey(algorithm: KeyAlgorithm): PrivateKey {
  const { privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('ed25519');
  return toPrivateKey(privateKey, algorithm);
}

const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;

/** The keys of a text, in which line feeds may be written as `\n`, because many tools keep one line only. */
function parseKeys(name: string, text: string): PrivateKey[] {
  const pem = text.replaceAll('\\n', '\n');
  const blocks = [...pem.matchAll(pemBlock)];
  if (blocks.length === 0 || pem.replaceAll(pemBlock, '').trim() !== '') {
    throw new ConfigError(
      `${name} must hold private keys in PEM form and nothing else, for example of \`openssl genpkey -algorithm ed25519\``,
    );
  }
  const parsed = blocks.map(([block, label = '']) => parseKey(block, label));
  const problems = parsed.flatMap((key, index) =>
    typeof key === 'string' ? `${name} holds a key that cannot be used: number ${index + 1} ${key}` : [],
  );
  if (problems.length > 0) throw new ConfigError(...problems);
  const keys = parsed.filter((key) => typeof key !== 'string');
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw new ConfigError(`${name} holds the same key twice`);
  return keys;
}

/** @returns what is wrong, where it is no key that can be used */
function parseKey(block: string, label: string): PrivateKey | string {
  if (label === 'ENCRYPTED PRIVATE KEY') return 'is encrypted: remove its password with `openssl pkey`';
  if (label !== 'PRIVATE KEY')
    return `is a ${label} and not a PKCS#8 PRIVATE KEY: convert it with \`openssl pkey\``;
  try {
    const key = createPrivateKey(block);
    const algorithm = algorithmOf(key);
    return algorithm ? toPrivateKey(key, algorithm) : 'is neither of the curve P-256 nor Ed25519';
  } catch {
    return 'is damaged';
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): KeyAlgorithm | undefined {
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  return asymmetricKeyDetails?.namedCurve === 'prime256v1' ? 'ES256' : undefined;
}

function toPrivateKey(privateKey: KeyObject, algorithm: KeyAlgorithm) {
  const publicKey = createPublicKey(privateKey);
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
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
