import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { Secret } from '../config/secrets.ts';
import { MailTopic } from '../database/generated/enums.ts';

/** The topic of each kind of email and push message that can be switched off. Codes, links and notices about an account are always sent. */
const topics: ReadonlyMap<string, MailTopic> = new Map([
  ['partner_request_received', 'partner_request_received'],
  ['partner_request_accepted', 'partner_request_answered'],
  ['partner_request_declined', 'partner_request_answered'],
  ['partner_request_withdrawn', 'partner_request_ended'],
  ['partner_request_ended', 'partner_request_ended'],
  ['saved_search_match', 'saved_search_match'],
]);

/** The topic of a kind of email or notification; undefined for one that cannot be switched off. */
export const topicOf = (kind: string): MailTopic | undefined => topics.get(kind);

export interface Subscription {
  userId: number;
  topic: MailTopic;
}

export type UnsubscribeLinks = ReturnType<typeof createUnsubscribeLinks>;

/**
 * Links with which a recipient switches a topic of emails off without a login (RFC 8058). Their token names the account and the
 * topic and is signed, so it is not stored. It does not expire: it works as long as one of the configured secrets signed it.
 */
export function createUnsubscribeLinks({ secrets, publicUrl }: Pick<Config, 'secrets' | 'publicUrl'>) {
  function sign({ userId, topic }: Subscription, { key }: Secret): string {
    const digest = createHmac('sha256', key).update(`dure unsubscribe:${userId}:${topic}`);
    return `${userId}.${topic}.${digest.digest('base64url')}`;
  }

  /**
   * @param keyId of the secret that signs. A queued mail names it, so that a retry after a change of secrets sends the same
   *   bytes; the first secret signs when it is no longer configured.
   */
  function url(subscription: Subscription, keyId: string): string {
    const secret = secrets.find(({ id }) => id === keyId) ?? secrets[0];
    const query = new URLSearchParams({ token: sign(subscription, secret) });
    return `${publicUrl}/api/v1/notifications/unsubscribe/?${query}`;
  }

  /** @returns undefined when no configured secret signed the token */
  function read(token: string): Subscription | undefined {
    const [, userId, name] = /^([1-9]\d{0,9})\.([a-z_]{1,50})\.[\w-]{43}$/.exec(token) ?? [];
    const topic = Object.values(MailTopic).find((one) => one === name);
    if (userId === undefined || topic === undefined) return undefined;
    const subscription = { userId: Number(userId), topic };
    const given = Buffer.from(token);
    return secrets.some((secret) => timingSafeEqual(Buffer.from(sign(subscription, secret)), given))
      ? subscription
      : undefined;
  }

  return { keyId: secrets[0].id, url, read };
}

/** The headers with which mail clients offer to unsubscribe (RFC 2369, RFC 8058). */
export function unsubscribeHeaders(url: string): Record<string, string> {
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}
