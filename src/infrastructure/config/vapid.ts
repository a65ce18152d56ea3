import { createECDH, hkdfSync } from 'node:crypto';
import { type Environment, parseUrl, splitList } from './environment.ts';
import type { Secret } from './secrets.ts';

/** How the service names itself to push services (RFC 8292). */
export interface Vapid {
  /** The uncompressed point and the scalar of a P-256 key, in base64url. */
  publicKey: string;
  privateKey: string;
  /** Where the operator of a push service finds that of this one. */
  subject: string;
}

/**
 * Reads the key that signs requests to push services. Outside production a missing one is derived from the first secret, so that
 * it survives restarts as that does.
 *
 * @param mailFrom whose address is the default of `VAPID_SUBJECT`
 * @param problems gets what is wrong
 * @returns undefined without a key: there are no push messages then
 */
export function readVapid(
  { VAPID_PRIVATE_KEY: value, VAPID_SUBJECT: given, NODE_ENV }: Environment,
  { key: secret }: Secret,
  mailFrom: string,
  problems: string[],
): Vapid | undefined {
  const subject = given ?? `mailto:${/[^\s<>]+@[^\s<>]+/.exec(mailFrom)?.[0]}`;
  const isUsed = given !== undefined || value !== undefined;
  if (isUsed && !isSubject(subject, NODE_ENV === 'production')) {
    problems.push(
      'VAPID_SUBJECT must be an address such as mailto:push@example.com, or a URL that starts with https://; in production one that push services can reach: without it MAIL_FROM counts',
    );
  }
  const isDerived = value === undefined && NODE_ENV !== 'production' && secret.length > 0;
  const privateKey = isDerived ? deriveVapidKey(secret) : value;
  if (privateKey === undefined) return undefined;
  const publicKey = publicKeyOf(privateKey);
  if (publicKey !== undefined) return { publicKey, privateKey, subject };
  problems.push(
    'VAPID_PRIVATE_KEY must be the 32 bytes of a P-256 private key in base64url, for example of `npx web-push generate-vapid-keys`',
  );
  return undefined;
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
function isSubject(text: string, production: boolean): boolean {
  const [, domain] = /^mailto:[^\s@]+@([^\s@]+)$/.exec(text) ?? [];
  const url = parseUrl(domain === undefined ? text : `https://${domain}`);
  if (url?.protocol !== 'https:') return false;
  return !production || /\.(?!(localhost|invalid)$)[a-z][a-z0-9-]+$/.test(url.hostname);
}

/** The hosts at which push endpoints may be. @param problems gets what is wrong */
export function readPushServices({ PUSH_SERVICES }: Environment, problems: string[]): string[] {
  const hosts = splitList(PUSH_SERVICES.toLowerCase());
  for (const host of hosts) {
    if (!/^(\*|(\*\.)?([a-z0-9-]+\.)+[a-z][a-z0-9-]+)$/.test(host))
      problems.push(`PUSH_SERVICES holds "${host}", which is not a host such as *.push.apple.com`);
  }
  return hosts;
}
