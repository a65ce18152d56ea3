import { randomUUID } from 'node:crypto';
import type { FastifyJWTOptions, JWT } from '@fastify/jwt';
import { Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { type Algorithm, createSigner, createVerifier } from 'fast-jwt';
import type { AccessClaims, TokenProblem, TokenType } from '../../http/authentication.ts';
import { isId, isUuid, maxId } from '../../http/schemas.ts';
import type { Config } from '../../infrastructure/config/config.ts';

const issuer = 'dure';
const audience = 'dure-api';
/** Verified tokens of each key that are kept: a client sends the same one with every request. */
const cache = 5_000;

/** Options of `@fastify/jwt`, whose defaults accept more algorithms than are issued here (RFC 8725, section 3.1). */
export function jwtOptions({ secrets }: Pick<Config, 'secrets'>): FastifyJWTOptions {
  return {
    secret: secrets[0].key,
    sign: { algorithm: 'HS256', kid: secrets[0].id, iss: issuer, aud: audience },
    // The cache keeps the verification and the expiry; whether the session is live is read from the database each time.
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

/** Issues and verifies JWTs. The first private key signs access tokens, else the first secret does, as it does for refresh tokens. */
export function createTokens(jwt: JWT, config: Pick<Config, 'secrets' | 'privateKeys' | 'publicUrl'>) {
  const { secrets, privateKeys, publicUrl } = config;
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

function readHeader(encoded: string): string {
  try {
    return headerFields(JSON.parse(Buffer.from(encoded, 'base64url').toString()));
  } catch {
    return '';
  }
}

type Key = { id: string; key: string | Buffer; algorithm: Algorithm };

/** `@fastify/jwt` has one key. For a token of another one it would build a verifier, without a cache. */
function verifierOf({ id, key, algorithm }: Key, iss: string) {
  const verifier = createVerifier({ key, algorithms: [algorithm], allowedIss: iss, cache });
  return [headerFields({ alg: algorithm, typ: 'JWT', kid: id }), verifier] as const;
}
