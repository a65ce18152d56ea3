import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  randomBytes,
  sign,
} from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import type { Json } from './json.ts';

type CborValue = Parameters<typeof isoCBOR.encode>[0];

const algorithms = {
  ES256: { id: -7, generate: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
  ES384: { id: -35, generate: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }) },
  EdDSA: { id: -8, generate: () => generateKeyPairSync('ed25519') },
  RS256: { id: -257, generate: () => generateKeyPairSync('rsa', { modulusLength: 2048 }) },
};

/** A vendor of authenticators: its key, and a certificate as far as it is read (RFC 5280), which nothing signs, until 2049. */
const vendor = {
  key: createPrivateKey({
    key: 'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgi4cEJkj7cPjPv0G6Wi0U+NGAYnNTS7ug9YdAt7svD2ChRANCAAQpJ7o8ggjeG+6c9npCWnp0Yu7PRQoI2PhUeMzKQj5jB8T/ZY7kFWPeL+AH1FgusNvrzEGxlXVPbyMmwhYGp7KI',
    encoding: 'base64',
    format: 'der',
    type: 'pkcs8',
  }),
  certificate: Buffer.from(
    'MIIBWzCCAUegAwIBAgIBATAKBggqhkjOPQQDAjBaMQswCQYDVQQGDAJLUjEPMA0GA1UECgwGVmVuZG9yMSIwIAYDVQQLDBlBdXRoZW50aWNhdG9yIEF0dGVzdGF0aW9uMRYwFAYDVQQDDA1BdXRoZW50aWNhdG9yMB4XDTIwMDEwMTAwMDAwMFoXDTQ5MDEwMTAwMDAwMFowWjELMAkGA1UEBgwCS1IxDzANBgNVBAoMBlZlbmRvcjEiMCAGA1UECwwZQXV0aGVudGljYXRvciBBdHRlc3RhdGlvbjEWMBQGA1UEAwwNQXV0aGVudGljYXRvcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCknujyCCN4b7pz2ekJaenRi7s9FCgjY+FR4zMpCPmMHxP9ljuQVY94v4AfUWC6w2+vMQbGVdU9vIybCFgansogwCgYIKoZIzj0EAwIDAgAA',
    'base64',
  ),
};

/** What a faulty or hostile browser or authenticator does; a correct one does nothing of it. */
export interface Deviations {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  crossOrigin?: boolean;
  userHandle?: string | undefined;
  isUserPresent?: boolean;
  isUserVerified?: boolean;
  isBackedUp?: boolean;
  counter?: number;
  /** Signs in place of the key of the passkey. */
  key?: KeyObject;
  /** In place of the id of the credential, in the JSON only. */
  id?: string;
  /** In place of the attestation `none`: one with the key of the passkey, or with a certificate of a vendor, or of another format. */
  attestation?: 'self' | 'vendor' | { fmt: string; attStmt: Map<string, CborValue> };
  /** In place of the attestation object. */
  attestationObject?: Buffer;
}

export type TestAuthenticator = ReturnType<typeof createAuthenticator>;

/**
 * An authenticator with one passkey and the browser before it, in software (Web Authentication Level 3, sections 6 and 7).
 *
 * @param origin of the page
 * @param options.hasCounter whether its signature counter grows; else it is always 0
 */
export function createAuthenticator(
  origin: string,
  {
    algorithm = 'ES256',
    hasCounter = true,
    id = randomBytes(16).toString('base64url'),
  }: { algorithm?: keyof typeof algorithms; hasCounter?: boolean; id?: string } = {},
) {
  const { id: alg, generate } = algorithms[algorithm];
  const keys: KeyPairKeyObjectResult = generate();
  const page = { origin, crossOrigin: false };
  let userHandle = '';
  let counter = 0;

  function clientData(right: { type: string; challenge: string }, given: Deviations): Buffer {
    const { type, challenge, origin, crossOrigin } = { ...page, ...right, ...given };
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }));
  }

  function authenticatorData(rpId: string, given: Deviations, attested = Buffer.alloc(0)): Buffer {
    const { isUserPresent = true, isUserVerified = true, isBackedUp = false } = given;
    const flags =
      Number(isUserPresent) |
      (Number(isUserVerified) << 2) |
      (isBackedUp ? 0x18 : 0) |
      (attested.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    if (hasCounter) counter += 1;
    count.writeUInt32BE(given.counter ?? counter);
    return Buffer.concat([sha256(given.rpId ?? rpId), Buffer.from([flags]), count, attested]);
  }

  function signWith(key: KeyObject, signed: Buffer): Buffer {
    return sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, key);
  }

  function attest(signed: Buffer, attestation: Deviations['attestation']) {
    if (typeof attestation === 'object') return attestation;
    if (attestation === undefined) return { fmt: 'none', attStmt: new Map() };
    const [key, rest]: [KeyObject, [string, CborValue][]] =
      attestation === 'self' ? [keys.privateKey, []] : [vendor.key, [['x5c', [vendor.certificate]]]];
    const attStmt = new Map<string, CborValue>([['alg', -7], ['sig', signWith(key, signed)], ...rest]);
    return { fmt: 'packed', attStmt };
  }

  return {
    id,
    keys,

    /** As `navigator.credentials.create()` and `toJSON()`, with the options as JSON. */
    create(options: Json, given: Deviations = {}) {
      userHandle = options.user.id;
      const rawId = Buffer.from(id, 'base64url');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(rawId.length);
      const publicKey = encodeCbor(coseKey(alg, keys.publicKey));
      const attested = Buffer.concat([Buffer.alloc(16), length, rawId, publicKey]);
      const authData = authenticatorData(options.rp.id, given, attested);
      const data = clientData({ type: 'webauthn.create', challenge: options.challenge }, given);
      const { fmt, attStmt } = attest(Buffer.concat([authData, sha256(data)]), given.attestation);
      const object = encodeCbor(new Map(Object.entries<CborValue>({ fmt, attStmt, authData })));
      return {
        ...credential(given.id ?? id),
        response: {
          clientDataJSON: data.toString('base64url'),
          attestationObject: (given.attestationObject ?? object).toString('base64url'),
          transports: ['internal', 'hybrid'],
          // Browsers send these, too.
          authenticatorData: authData.toString('base64url'),
          publicKey: keys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64url'),
          publicKeyAlgorithm: alg,
        },
      };
    },

    /** As `navigator.credentials.get()` and `toJSON()`, with the options as JSON. */
    get(options: Json, given: Deviations = {}) {
      const authData = authenticatorData(options.rpId, given);
      const data = clientData({ type: 'webauthn.get', challenge: options.challenge }, given);
      const signed = Buffer.concat([authData, sha256(data)]);
      const signature = signWith(given.key ?? keys.privateKey, signed);
      return {
        ...credential(given.id ?? id),
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: 'userHandle' in given ? given.userHandle : userHandle,
        },
      };
    },
  };
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();

const credential = (id: string) => ({
  id,
  rawId: id,
  type: 'public-key',
  authenticatorAttachment: 'platform',
  clientExtensionResults: { credProps: { rk: true } },
  aMemberOfLater: { levels: [1, 2] },
});

/** A public key as COSE has it (RFC 9053). */
function coseKey(alg: number, key: KeyObject): Map<number, CborValue> {
  const { kty, x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string) => Buffer.from(text, 'base64url');
  if (kty === 'EC') return cose(2, alg, alg === -7 ? 1 : 2, bytes(x), bytes(y));
  return kty === 'OKP' ? cose(1, alg, 6, bytes(x)) : cose(3, alg, bytes(n), bytes(e));
}

/** @param rest what depends on the type of the key, at -1, -2 and so on */
const cose = (kty: number, alg: number, ...rest: CborValue[]) =>
  new Map<number, CborValue>([
    [1, kty],
    [3, alg],
    ...rest.map((value, index): [number, CborValue] => [-1 - index, value]),
  ]);

/** Encodes a value in CBOR (RFC 8949). */
export const encodeCbor = (value: CborValue) => Buffer.from(isoCBOR.encode(value));
