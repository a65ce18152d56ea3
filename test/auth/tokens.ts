import { createHmac, randomUUID } from 'node:crypto';

interface Header {
  [other: string]: unknown;
  kid: string;
}

interface Claims {
  [other: string]: unknown;
  sub: string;
  sid: string;
  jti: string;
  iat: number;
  exp: number;
}

/** The header and the claims of a token; the signature is not checked. */
export function decode(token: string): { header: Header; claims: Claims } {
  const [header = '', claims = ''] = token.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  return { header: read(header), claims: read(claims) };
}

/** The session of a token. */
export function sessionIdIn(token: string): string {
  return decode(token).claims.sid;
}

/** The rotation count of a refresh token: the one claim that an access token does not have. */
export function countIn(refreshToken: string): number {
  const { aud, exp, iat, iss, jti, sid, sub, token_type, ...count } = decode(refreshToken).claims;
  return Number(Object.values(count)[0]);
}

interface Genuine {
  secret: string;
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

/** Parts of a token that a test sets: fields in place of those of a genuine one; undefined ones are left out. */
export interface TokenParts extends Partial<Genuine> {
  /** Takes the place of all claims. */
  payload?: unknown;
  hash?: 'sha256' | 'sha384' | 'sha512';
}

/** Signs tokens that are like a genuine one, but for what a test changes. */
export function createForge(genuine: Genuine) {
  return ({ header, claims, payload, hash = 'sha256', secret = genuine.secret }: TokenParts = {}): string => {
    const body = payload === undefined ? { ...genuine.claims, jti: randomUUID(), ...claims } : payload;
    return signText(JSON.stringify({ ...genuine.header, ...header }), JSON.stringify(body), secret, hash);
  };
}

/** Signs a header and a payload that need not be JSON. */
export function signText(header: string, payload: string, secret: string, hash = 'sha256'): string {
  const input = [header, payload].map((part) => Buffer.from(part).toString('base64url')).join('.');
  return signInput(input, secret, hash);
}

/** Signs what need not be base64 either. */
export function signInput(input: string, secret: string, hash = 'sha256'): string {
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`;
}

/** Now, in the seconds of a token. */
export const now = () => Math.floor(Date.now() / 1000);
