import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Environment } from './environment.ts';

export type KeyAlgorithm = 'ES256' | 'EdDSA';

/** A key that signs access tokens, which others can verify with its public half. */
export type PrivateKey = ReturnType<typeof toPrivateKey>;

/**
 * Reads the keys that sign access tokens.
 *
 * @param problems gets what is wrong
 * @returns the signing key first; all verify
 */
export function readPrivateKeys(
  { JWT_PRIVATE_KEY: value, JWT_PRIVATE_KEY_FILE: path }: Environment,
  problems: string[],
): PrivateKey[] {
  if (value !== undefined && path !== undefined) {
    problems.push('JWT_PRIVATE_KEY and JWT_PRIVATE_KEY_FILE must not both be set');
  } else if (value !== undefined) {
    return parseKeys('JWT_PRIVATE_KEY', value, problems);
  } else if (path !== undefined) {
    try {
      return parseKeys('JWT_PRIVATE_KEY_FILE', readFileSync(path, 'utf8'), problems);
    } catch (error) {
      problems.push(`JWT_PRIVATE_KEY_FILE cannot be read: ${error instanceof Error ? error.message : error}`);
    }
  }
  return [];
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
function parseKeys(name: string, text: string, problems: string[]): PrivateKey[] {
  const pem = text.replaceAll('\\n', '\n');
  const blocks = [...pem.matchAll(pemBlock)];
  if (blocks.length === 0 || pem.replaceAll(pemBlock, '').trim() !== '') {
    problems.push(
      `${name} must hold private keys in PEM form and nothing else, for example of \`openssl genpkey -algorithm ed25519\``,
    );
    return [];
  }
  const keys: PrivateKey[] = [];
  for (const [index, [block, label = '']] of blocks.entries()) {
    const key = parseKey(block, label);
    if (typeof key === 'string')
      problems.push(`${name} holds a key that cannot be used: number ${index + 1} ${key}`);
    else if (keys.some(({ id }) => id === key.id)) problems.push(`${name} holds the same key twice`);
    else keys.push(key);
  }
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
