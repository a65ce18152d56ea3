import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What templates and examples show in place of a secret. Random text of 64 characters matches less than once in a million. */
const placeholder =
  /change[-_ ]?(?:me|this|it)|replace[-_ ]?(?:me|this|it)|please[-_ ]|your[-_ .]|super[-_ ]?secret|a-string-secret|placeholder|insecure|xxxxx|[<>]/i;

/** A secret, and the short public id by which tokens and rows refer to it. */
export interface Secret {
  id: string;
  key: Buffer;
}

/** The file of the generated secret. */
export function secretPath(dataDirectory: string): string {
  return join(dataDirectory, 'jwt-secret');
}

/**
 * Reads the secrets that sign tokens and derive codes, links and hashes.
 *
 * @param value of `JWT_SECRET`; outside production a missing one is generated once and kept in the data directory
 * @param problems gets what is wrong
 * @param generates whether a missing secret is generated, outside production
 * @returns the signing secret first; all verify
 */
export function readSecrets(
  value: string | undefined,
  production: boolean,
  dataDirectory: string,
  problems: string[],
  generates = true,
): [Secret, ...Secret[]] {
  const isGenerated =
    value === undefined && !production && (generates || existsSync(secretPath(dataDirectory)));
  const text = isGenerated ? generatedSecret(dataDirectory, problems) : (value ?? '');
  const texts = splitSecrets(text);
  const secrets = texts.map((secret) => Buffer.from(secret));
  const isExample = production && (texts.some(isPlaceholder) || secrets.some(isRepeated));
  if (value !== undefined && (secrets.some(isWeak) || isExample)) {
    problems.push(
      'JWT_SECRET must hold secrets of at least 32 random bytes each and no placeholder, for example `openssl rand -base64 48`',
    );
  }
  const [first = Buffer.alloc(0), ...others] = secrets;
  return [toSecret(first), ...others.map(toSecret)];
}

/** The secrets in a value of `JWT_SECRET`, without blanks around them. */
export function splitSecrets(text: string): string[] {
  return text.split(',').map((secret) => secret.trim());
}

/** A new secret, as text. */
export function generateSecret(): string {
  return randomBytes(48).toString('base64url');
}

/** A secret with its id. */
export function toSecret(key: Buffer): Secret {
  const id = createHmac('sha256', key).update('dure key id').digest('base64url').slice(0, 10);
  return { id, key };
}

/** Whether a secret is too short or repeats few bytes. */
function isWeak(key: Buffer): boolean {
  return key.length < 32 || new Set(key).size < 8;
}

/** The generated secret, which is kept so that sessions survive a restart. */
function generatedSecret(dataDirectory: string, problems: string[]): string {
  const path = secretPath(dataDirectory);
  try {
    if (!existsSync(path)) createSecret(path);
    const secret = readFileSync(path, 'utf8');
    if (splitSecrets(secret).some((one) => isWeak(Buffer.from(one))))
      problems.push(`${path} contains no secret; delete it to generate a new one`);
    return secret;
  } catch (error) {
    problems.push(`DATA_DIR cannot be used: ${error instanceof Error ? error.message : error}`);
    return '';
  }
}

/** Of concurrent starts the first creates the file, and all read its secret. */
function createSecret(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, generateSecret(), { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Whether a text is an example of a secret and not a secret. */
export function isPlaceholder(text: string): boolean {
  return placeholder.test(text);
}

/** Whether a secret is a shorter one that is repeated. */
function isRepeated(secret: Buffer): boolean {
  const periods = Array.from({ length: Math.floor(secret.length / 2) }, (_, index) => index + 1);
  return periods.some((period) => secret.subarray(period).equals(secret.subarray(0, -period)));
}

/** Whether a text can be an API key of Resend, as `re_` and random characters. */
export function isResendKey(text: string): boolean {
  return /^re_.{5,}$/.test(text) && !isPlaceholder(text);
}
