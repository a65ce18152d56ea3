import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A secret with the short public name that tokens and rows carry, so that the right one is found again. */
export interface Secret {
  id: string;
  key: Buffer;
}

/**
 * Reads the secrets that sign tokens and keep codes, links and idempotency keys apart.
 *
 * @param value of `JWT_SECRET`; outside production a missing one is generated once and kept in the data directory
 * @param problems what is wrong is added here
 * @returns the one that signs first; every one verifies
 */
export function readSecrets(
  value: string | undefined,
  production: boolean,
  dataDirectory: string,
  problems: string[],
): [Secret, ...Secret[]] {
  const generated = value === undefined && !production;
  const text = generated ? generatedSecret(dataDirectory, problems) : (value ?? '');
  const secrets = text.split(',').map((secret) => Buffer.from(secret));
  if (value !== undefined && secrets.some(isWeak)) {
    problems.push(
      'JWT_SECRET must hold secrets of at least 32 random bytes each, for example `openssl rand -base64 48`',
    );
  }
  const [first = Buffer.alloc(0), ...others] = secrets;
  return [toSecret(first), ...others.map(toSecret)];
}

function toSecret(key: Buffer): Secret {
  const id = createHmac('sha256', key).update('dure key id').digest('base64url').slice(0, 10);
  return { id, key };
}

function isWeak(key: Buffer): boolean {
  return key.length < 32 || new Set(key).size < 8;
}

/** The secret that a developer's machine makes for itself and keeps, so that logins survive a restart. */
function generatedSecret(dataDirectory: string, problems: string[]): string {
  const path = join(dataDirectory, 'jwt-secret');
  try {
    const secret = readIfThere(path) ?? createSecret(dataDirectory, path);
    if (isWeak(Buffer.from(secret)))
      problems.push(`${path} holds no secret; delete it, and a new one is made`);
    return secret;
  } catch (error) {
    problems.push(`DATA_DIR cannot be used: ${error instanceof Error ? error.message : error}`);
    return '';
  }
}

/** Of two processes that start together one writes, and both read the same secret, whole, whenever one of them is killed. */
function createSecret(dataDirectory: string, path: string): string {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, randomBytes(48).toString('base64url'), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    // Some file systems have no links.
    if (!hasCode(error, 'EEXIST')) renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8').trim();
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
