import { createECDH, hkdfSync } from 'node:crypto';
import { ConfigError, parseUrl } from './readers.ts';

/** How the service names itself to push services (RFC 8292). */
export interface Vapid {
  /** The uncompressed point and the scalar of a P-256 key, in base64url. */
  publicKey: string;
  privateKey: string;
  /** Where the operator of a push service finds that of this one. */
  subject: string;
}

interface VapidSettings {
  /** Of `VAPID_PRIVATE_KEY` and `VAPID_SUBJECT`. */
  privateKey: string | undefined;
  subject: string | undefined;
  /** Whose address is the default of the subject. */
  mailFrom: string;
  /** From which a missing key is derived outside production, so that it survives restarts as the secret does. */
  secret: Buffer;
  production: boolean;
}

/**
 * Reads the key that signs requests to push services.
 *
 * @returns undefined without a key: there are no push messages then
 * @throws {ConfigError}
 */
export function readVapid(settings: VapidSettings): Vapid | undefined {
  const { privateKey: value, subject: given, mailFrom, secret, production } = settings;
  const subject = given ?? `mailto:${/[^\s<>]+@[^\s<>]+/.exec(mailFrom)?.[0]}`;
  const isDerived = value === undefined && !production && secret.length > 0;
  const privateKey = isDerived ? deriveVapidKey(secret) : value;
  const publicKey = privateKey === undefined ? undefined : publicKeyOf(privateKey);
  const problems: string[] = [];
  if ((given !== undefined || value !== undefined) && !isSubject(subject, settings)) {
    problems.push(
      'VAPID_SUBJECT must be an address such as mailto:push@example.com, or a URL that starts with https://; in production one that push services can reach: without it MAIL_FROM counts',
    );
  }
  if (privateKey !== undefined && publicKey === undefined) {
    problems.push(
      'VAPID_PRIVATE_KEY must be the 32 bytes of a P-256 private key in base64url, for example of `npx web-push generate-vapid-keys`',
    );
  }
  if (problems.length > 0) throw new ConfigError(...problems);
  return privateKey === undefined || publicKey === undefined ? undefined : { publicKey, privateKey, subject };
}

/** One of four billion is no key. */
function deriveVapidKey(secret: Buffer): string {
  return Buffer.from(hkdfSync('sha256', secret, '', 'dure vapid key', 32)).toString('base64url');
}

/** @returns undefined for what is no private key */
function publicKeyOf(privateKey: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{43}$/.test(privateKey)) return undefined;
  const curve = createECDH('prime256v1');
  try {
    curve.setPrivateKey(privateKey, 'base64url');
    return curve.getPublicKey('base64url');
  } catch {
    return undefined;
  }
}

/** In production a host of the internet, because Apple refuses the tokens of any other subject (`BadJwtToken`). */
function isSubject(text: string, { production }: VapidSettings): boolean {
  const [, domain] = /^mailto:[^\s@]+@([^\s@]+)$/.exec(text) ?? [];
  const url = parseUrl(domain === undefined ? text : `https://${domain}`);
  if (url?.protocol !== 'https:') return false;
  return !production || /\.(?!(localhost|invalid)$)[a-z][a-z0-9-]+$/.test(url.hostname);
}
