import { randomUUID } from 'node:crypto';
import type { FastifyJWTOptions, JWT } from '@fastify/jwt';
import { Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { Config, Secret } from '../config/config.ts';
import type { TokenProblem, TokenType } from '../http/authentication.ts';
import { isId, isUuid } from '../http/path-ids.ts';
import { maxId } from '../http/schemas.ts';

const issuer = 'dure';
const audience = 'dure-api';

/** Options of `@fastify/jwt`, whose defaults accept more than is issued here (RFC 8725, sections 3.1 and 3.8). */
export function jwtOptions({ secrets }: Pick<Config, 'secrets'>): FastifyJWTOptions {
  return {
    secret: secrets[0].key,
    sign: { algorithm: 'HS256', kid: secrets[0].id, iss: issuer, aud: audience },
    verify: {
      algorithms: ['HS256'],
      allowedIss: issuer,
      allowedAud: audience,
      requiredClaims: ['sub', 'sid', 'jti', 'iat', 'exp', 'iss', 'aud', 'token_type'],
      // A client sends the same token with every request. What is kept is that a token is genuine and until when; whether its
      // session is live is read from the database each time.
      cache: 5_000,
    },
  };
}

const Header = TypeCompiler.Compile(
  Type.Object({
    alg: Type.Literal('HS256'),
    typ: Type.Literal('JWT'),
    kid: Type.String({ maxLength: 32 }),
    crit: Type.Optional(Type.Never()),
  }),
);

const Claims = TypeCompiler.Compile(
  Type.Object({
    sub: Type.String(),
    sid: Type.String(),
    jti: Type.String({ minLength: 1 }),
    iat: Type.Integer(),
    exp: Type.Integer(),
    iss: Type.Literal(issuer),
    aud: Type.Literal(audience),
    token_type: Type.Union([Type.Literal('access'), Type.Literal('refresh')]),
    count: Type.Optional(Type.Integer({ minimum: 0, maximum: maxId })),
  }),
);

/** The claims of a genuine token. */
export interface TokenClaims {
  userId: number;
  sessionId: string;
  /** How often the session had been refreshed when the token was issued; 0 in access tokens. */
  count: number;
}

/** Issues and verifies JWTs; whether their session is live is checked elsewhere. */
export function createTokens(jwt: JWT, secrets: readonly Secret[]) {
  const secretsByHeader = new Map(secrets.map((secret) => [issuedHeader(secret), secret]));

  /** @param lifetime whole seconds, at least 1 */
  function sign(type: TokenType, { userId, sessionId, count }: TokenClaims, lifetime: number): string {
    const iat = Math.floor(Date.now() / 1000);
    // All claims are in the payload: with options, `@fastify/jwt` would build a new signer for each token.
    return jwt.sign({
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
    const header = token.slice(0, token.indexOf('.'));
    const secret = secretsByHeader.get(header) ?? secretOf(header, secrets);
    if (secret === undefined) return { problem: 'malformed' };
    let claims: unknown;
    try {
      claims = secret === secrets[0] ? jwt.verify(token) : jwt.verify(token, { key: secret.key });
    } catch (error) {
      return { problem: isExpired(error) ? 'expired' : 'malformed' };
    }
    if (!Claims.Check(claims)) return { problem: 'malformed' };
    const { sub, sid, token_type, count } = claims;
    if (!isId(sub) || !isUuid(sid)) return { problem: 'malformed' };
    if (token_type !== type) return { problem: 'wrong_type' };
    if (token_type === 'refresh' && count === undefined) return { problem: 'malformed' };
    return { userId: Number(sub), sessionId: sid, count: count ?? 0 };
  }

  return { sign, verify };
}

/** The first part of every token that is signed with a secret. */
function issuedHeader({ id }: Secret): string {
  return Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT', kid: id })).toString('base64url');
}

/** The secret that an encoded header names, if the header has the fields that are issued here, in whatever order. */
function secretOf(encoded: string, secrets: readonly Secret[]): Secret | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
    if (!Header.Check(header)) return undefined;
    return secrets.find(({ id }) => id === header.kid);
  } catch {
    return undefined;
  }
}

function isExpired(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'FAST_JWT_EXPIRED';
}
