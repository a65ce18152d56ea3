import {
  createHash,
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
  let userHandle = '';
  let counter = 0;

  function clientData(type: string, challenge: string, given: Deviations): Buffer {
    const data = { type, challenge, origin, crossOrigin: false, ...pick(given) };
    return Buffer.from(JSON.stringify(data));
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
    const vendor = algorithms.ES256.generate();
    const [key, rest]: [KeyObject, [string, CborValue][]] =
      attestation === 'self'
        ? [keys.privateKey, []]
        : [vendor.privateKey, [['x5c', [certificateOf(vendor.publicKey)]]]];
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
      const data = clientData('webauthn.create', options.challenge, given);
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
      const data = clientData('webauthn.get', options.challenge, given);
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

/** The deviations of the browser. */
function pick({ origin, challenge, type, crossOrigin }: Deviations) {
  const all = { origin, challenge, type, crossOrigin };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

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

/** A certificate of an authenticator's vendor as far as it is read (RFC 5280); nothing signs it. */
function certificateOf(key: KeyObject): Buffer {
  const attribute = (type: number, text: string) =>
    der(0x31, der(0x30, der(0x06, Buffer.from([0x55, 4, type])), der(0x0c, Buffer.from(text))));
  const name = der(
    0x30,
    ...[attribute(6, 'KR'), attribute(10, 'Vendor'), attribute(11, 'Authenticator Attestation')],
    attribute(3, 'Authenticator'),
  );
  const algorithm = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const times = ['200101000000Z', '490101000000Z'].map((time) => der(0x17, Buffer.from(time)));
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const serial = der(0x02, Buffer.from([1]));
  const publicKey = key.export({ type: 'spki', format: 'der' });
  const content = der(0x30, version, serial, algorithm, name, der(0x30, ...times), name, publicKey);
  return der(0x30, content, algorithm, der(0x03, Buffer.alloc(2)));
}

/** One value in DER (ITU-T X.690), shorter than 64 KiB. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** Encodes a value in CBOR (RFC 8949). */
export const encodeCbor = (value: CborValue) => Buffer.from(isoCBOR.encode(value));
