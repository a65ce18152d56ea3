import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from './readers.ts';

/** What templates and examples show in place of a secret. Random text of 64 characters matches less than once in a million. */
const placeholder =
  /change[-_ ]?(?:me|this|it)|replace[-_ ]?(?:me|this|it)|please[-_ ]|your[-_ .]|super[-_ ]?secret|a-string-secret|placeholder|insecure|xxxxx|[<>]/i;

/** Whether a text is an example of a secret and not a secret. */
export const isPlaceholder = (text: string) => placeholder.test(text);

/** A secret, and the short public id by which tokens and rows refer to it. */
export interface Secret {
  id: string;
  key: Buffer;
}

/** One or more; the first one signs, all verify. */
export type Secrets = [Secret, ...Secret[]];

/** Reads the secrets that sign tokens and derive codes, links and hashes. @throws {ConfigError} */
export function readSecrets(text: string, { production }: { production: boolean }): Secrets {
  const secrets = toSecrets(text);
  const isExample = (key: Buffer) => isPlaceholder(String(key)) || isRepeated(key);
  if (secrets.every(({ key }) => !isWeak(key) && !(production && isExample(key)))) return secrets;
  throw new ConfigError(
    'must hold secrets of at least 32 random bytes each and no placeholder, for example `openssl rand -base64 48`',
  );
}

/** The secrets of a value of `JWT_SECRET`, without blanks around them; an empty one where it has none. */
export function toSecrets(text: string): Secrets {
  const [first = '', ...others] = text.split(',').map((secret) => secret.trim());
  const toSecret = (secret: string) => {
    const key = Buffer.from(secret);
    return { id: createHmac('sha256', key).update('dure key id').digest('base64url').slice(0, 10), key };
  };
  return [toSecret(first), ...others.map(toSecret)];
}

/** A new secret, as text. */
export const generateSecret = () => randomBytes(48).toString('base64url');

/** The file of the generated secret. */
export const secretPath = (dataDirectory: string) => join(dataDirectory, 'jwt-secret');

/** The generated secret, which is kept so that sessions survive a restart. Of concurrent starts the first one creates it. */
export function generatedSecrets(path: string): Secrets {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) writeNew(path, generateSecret());
  const secrets = toSecrets(readFileSync(path, 'utf8'));
  if (secrets.every(({ key }) => !isWeak(key))) return secrets;
  throw new ConfigError(`has no secret in ${path}; delete it to generate a new one`);
}

/** Writes a file, unless another process has just written it. */
function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Whether a secret is too short or repeats few bytes. */
const isWeak = (key: Buffer) => key.length < 32 || new Set(key).size < 8;

/** Whether a secret is a shorter one again and again, also where the last time is cut. */
function isRepeated(secret: Buffer): boolean {
  const periods = Array.from({ length: Math.floor(secret.length / 2) }, (_, index) => index + 1);
  return periods.some((period) => secret.subarray(period).equals(secret.subarray(0, -period)));
}
