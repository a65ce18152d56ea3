import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto';
import type { FastifyJWTOptions, JWT } from '@fastify/jwt';
import { Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { type Algorithm, createSigner, createVerifier } from 'fast-jwt';
import type { AccessClaims, TokenProblem, TokenType } from '../../http/authentication.ts';
import { serviceUnavailable } from '../../http/errors.ts';
import { isId, isUuid, maxId } from '../../http/schemas.ts';
import type { Config, Secret } from '../../infrastructure/config/config.ts';
import type { LoginFlowKind } from '../../infrastructure/database/generated/enums.ts';

const issuer = 'dure';
const audience = 'dure-api';
/** Verified tokens of each key that are kept: a client sends the same one with every request. */
const cache = 5_000;

/** Options of `@fastify/jwt`, whose defaults accept more algorithms than are issued here (RFC 8725, section 3.1). */
export function jwtOptions({ secrets }: Pick<Config, 'secrets'>): FastifyJWTOptions {
  return {
    secret: secrets[0].key,
    sign: { algorithm: 'HS256', kid: secrets[0].id, iss: issuer, aud: audience },
    // The cache keeps the result of the verification and the expiry; whether the session is live is read from the database
    // each time.
    verify: { algorithms: ['HS256'], allowedIss: issuer, cache },
  };
}

/** All that is issued here (RFC 8725, section 3.8). */
const Claims = TypeCompiler.Compile(
  Type.Object({
    sub: Type.String(),
    sid: Type.String(),
    jti: Type.String({ minLength: 1 }),
    iat: Type.Integer(),
    exp: Type.Integer(),
    // Its verifier knows that of the key.
    iss: Type.String(),
    aud: Type.Literal(audience),
    token_type: Type.Union([Type.Literal('access'), Type.Literal('refresh')]),
    count: Type.Optional(Type.Integer({ minimum: 0, maximum: maxId })),
  }),
);

/** The claims of a genuine token. */
export interface TokenClaims extends AccessClaims {
  /** How often the session had been refreshed when the token was issued; 0 in access tokens. */
  count: number;
}

export type Tokens = ReturnType<typeof createTokens>;

/**
 * Issues and verifies JWTs; whether their session is live is checked elsewhere. The first private key signs access tokens, so that
 * other services can verify them. The first secret signs refresh tokens, which only this service reads, and, without a private key,
 * all tokens.
 *
 * @param jwt with {@link jwtOptions}
 */
export function createTokens(
  jwt: JWT,
  { secrets, privateKeys, publicUrl }: Pick<Config, 'secrets' | 'privateKeys' | 'publicUrl'>,
) {
  const [signing] = privateKeys;
  const keyOptions = signing && { key: signing.pem, algorithm: signing.algorithm, kid: signing.id };
  const signers = {
    access: keyOptions ? createSigner({ ...keyOptions, iss: publicUrl, aud: audience }) : jwt.sign,
    refresh: jwt.sign,
  };
  /** By the header of the tokens of a key. A token that has another one was not issued here. */
  const verifiers = new Map<string, (token: string) => unknown>([
    [headerFields({ alg: 'HS256', typ: 'JWT', kid: secrets[0].id }), jwt.verify],
    ...secrets.slice(1).map(({ id, key }) => verifierOf({ id, key, algorithm: 'HS256' }, issuer)),
    ...privateKeys.map(({ algorithm, id, publicPem: key }) => verifierOf({ id, key, algorithm }, publicUrl)),
  ]);

  /** @param lifetime whole seconds, at least 1 */
  function sign(type: TokenType, { userId, sessionId, count }: TokenClaims, lifetime: number): string {
    const iat = Math.floor(Date.now() / 1000);
    // All claims are in the payload: with options, `@fastify/jwt` would build a new signer for each token.
    return signers[type]({
      sub: String(userId),
      sid: sessionId,
      jti: randomUUID(),
      token_type: type,
      ...(type === 'refresh' ? { count } : {}),
      iat,
      exp: iat + lifetime,
    });
  }

  /** Verifies signature, times, shape and type of a token. Never throws. */
  function verify(type: TokenType, token: string): TokenClaims | { problem: TokenProblem } {
    if (token.length > 4096) return { problem: 'malformed' };
    const verifyClaims = verifiers.get(readHeader(token.slice(0, token.indexOf('.'))));
    if (verifyClaims === undefined) return { problem: 'malformed' };
    let claims: unknown;
    try {
      claims = verifyClaims(token);
    } catch (error) {
      const isExpired = error instanceof Error && 'code' in error && error.code === 'FAST_JWT_EXPIRED';
      return { problem: isExpired ? 'expired' : 'malformed' };
    }
    if (!Claims.Check(claims) || !isId(claims.sub) || !isUuid(claims.sid)) return { problem: 'malformed' };
    const { iss, sub, sid, token_type, count } = claims;
    if (token_type !== type) return { problem: 'wrong_type' };
    // No private key signs refresh tokens.
    if (type === 'refresh' && (count === undefined || iss !== issuer)) return { problem: 'malformed' };
    return { userId: Number(sub), sessionId: sid, count: count ?? 0 };
  }

  return { sign, verify };
}

/** The same text for the same fields in any order. */
const headerFields = (header: object) => JSON.stringify(Object.entries(header).sort());

/** @returns an empty text for what is no header */
function readHeader(encoded: string): string {
  try {
    return headerFields(JSON.parse(Buffer.from(encoded, 'base64url').toString()));
  } catch {
    return '';
  }
}

/** `@fastify/jwt` has one key. For a token of another one it would build a verifier, without a cache. */
function verifierOf(
  { id, key, algorithm }: { id: string; key: string | Buffer; algorithm: Algorithm },
  iss: string,
) {
  const verifier = createVerifier({ key, algorithms: [algorithm], allowedIss: iss, cache });
  return [headerFields({ alg: algorithm, typ: 'JWT', kid: id }), verifier] as const;
}

/** What a derived secret is for. Part of the HMAC, so that the id of a code gives no link. */
type Purpose = 'email code' | FlowSecret | LinkPurpose;
type LinkPurpose = 'email link' | 'email proof' | 'password reset' | 'email change' | `${LoginFlowKind} flow`;
/** What a login flow sends to a provider or an authenticator besides its token. */
export type FlowSecret = 'state' | 'nonce' | 'code verifier' | 'challenge';

export type DerivedSecrets = ReturnType<typeof createDerivedSecrets>;

/**
 * Codes and link tokens of emails. They are not stored but derived from the random id of their row, with the secret of its time: a
 * retried email has the same code, and a copy of the database reveals none. Undefined when that secret is no longer configured.
 */
export function createDerivedSecrets(secrets: readonly [Secret, ...Secret[]]) {
  const find = (keyId: string) => secrets.find(({ id }) => id === keyId);
  const digest = ({ key }: Secret, purpose: Purpose, id: string) =>
    createHmac('sha256', key).update(`dure ${purpose}:${id}`).digest();

  function code(id: string, keyId: string): string | undefined {
    const secret = find(keyId);
    // 48 bits over a million values: the bias is below one in 10^8.
    const number = secret && digest(secret, 'email code', id).readUIntBE(0, 6);
    return number === undefined ? undefined : String(number % 1_000_000).padStart(6, '0');
  }

  /** The id of the row, a dot, and 256 bits, URL-safe. */
  function newToken(purpose: LinkPurpose, id: string, secret = secrets[0]): string {
    return `${id}.${digest(secret, purpose, id).toString('base64url')}`;
  }

  function token(purpose: LinkPurpose, id: string, keyId: string): string | undefined {
    const secret = find(keyId);
    return secret && newToken(purpose, id, secret);
  }

  /** 256 bits of a row, URL-safe. */
  function derive(purpose: FlowSecret, id: string, keyId: string): string | undefined {
    const secret = find(keyId);
    return secret && digest(secret, purpose, id).toString('base64url');
  }

  /** The row that a token is of, which may be gone; undefined for every other text. */
  function open(purpose: LinkPurpose, given: string): { id: string; keyId: string } | undefined {
    const [id = ''] = given.split('.');
    const secret = isUuid(id)
      ? secrets.find((one) => secretsEqual(newToken(purpose, id, one), given))
      : undefined;
    return secret && { id, keyId: secret.id };
  }

  /** `keyId` is that of new rows. */
  return { keyId: secrets[0].id, code, token, newToken, derive, open };
}

export type Sealer = ReturnType<typeof createSealer>;

/** Encrypts what must be read again: with a key of the first secret, while each secret opens what it sealed (AES-256-GCM). */
export function createSealer(secrets: readonly [Secret, ...Secret[]]) {
  const toKey = ({ id, key }: Secret) => ({
    id,
    key: Buffer.from(hkdfSync('sha256', key, '', 'dure sealed values', 32)),
  });
  const sealing = toKey(secrets[0]);
  const keys = [sealing, ...secrets.slice(1).map(toKey)];

  /** @param context what the value is and whose, without which it does not open */
  function seal(text: string, context: string): string {
    const { id, key } = sealing;
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${id}.${sealed.toString('base64url')}`;
  }

  /** @returns undefined when no secret opens it, or it was sealed for another context */
  function unseal(sealed: string, context: string): string | undefined {
    const [id, text = ''] = sealed.split('.');
    const key = keys.find((one) => one.id === id)?.key;
    const bytes = Buffer.from(text, 'base64url');
    if (key === undefined || bytes.length < 28) return undefined;
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-16));
      return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      return undefined;
    }
  }

  /** @param name for the log @throws {ApiError} `service_unavailable` when no secret opens it */
  function unsealNeeded(sealed: string, context: string, name: string): string {
    const text = unseal(sealed, context);
    if (text === undefined) throw serviceUnavailable(new Error(`no JWT_SECRET opens ${name}`));
    return text;
  }

  /** `prefix` is the start of everything that the first secret sealed. */
  return { seal, unseal, unsealNeeded, prefix: `${sealing.id}.` };
}

/** Compares in constant time. An undefined expected value equals nothing. */
export function secretsEqual(expected: string | undefined, given: string): boolean {
  if (expected === undefined) return false;
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
