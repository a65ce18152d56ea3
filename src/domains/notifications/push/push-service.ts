import type { IncomingHttpHeaders } from 'node:http';
import type WebPush from 'web-push';
import type { Vapid } from '../../../infrastructure/config/vapid.ts';
import { reasonOf } from '../../../infrastructure/database/errors.ts';
import { guardedFetch } from '../../../infrastructure/guarded-fetch.ts';
import type { PushMessage } from '../presenters.ts';
import type { SubscriptionToSend } from './repository.ts';

/** Milliseconds of an attempt. */
const attemptTime = 5_000;

/** Seconds for which push services keep a message for a browser that is offline. */
const ttl = 4 * 86_400;

/** Seconds: a push service cannot ask for a longer pause. */
const longestPause = 86_400;

/** What became of a message: `rejected` is not tried again, `gone` means that the subscription has ended. */
export interface PushResult {
  outcome: 'sent' | 'failed' | 'rejected' | 'gone';
  reason: string;
  /** Seconds for which the push service wants no other attempt. */
  pause: number;
}

/** Milliseconds for which a signature is used: it takes longer than all else. It is valid for twelve hours. */
const signatureTime = 3_600_000;

/** Push services whose signature is kept. Users name any number of them, most the same few. */
const maxSignatures = 100;

/** Sends messages to push services, encrypted for the browser (RFC 8291) and signed (RFC 8292). */
export function createPushSender(vapid: Vapid, allowsLoopback: boolean) {
  const signatures = new Map<string, { authorization: string; end: number }>();

  /** The header by which the service names itself to a push service. */
  function sign(webPush: typeof WebPush, origin: string): string {
    const known = signatures.get(origin);
    if (known && known.end > Date.now()) return known.authorization;
    const { subject, publicKey, privateKey } = vapid;
    const signed = webPush.getVapidHeaders(origin, subject, publicKey, privateKey, 'aes128gcm');
    if (signatures.size >= maxSignatures) signatures.clear();
    signatures.set(origin, { authorization: signed.Authorization, end: Date.now() + signatureTime });
    return signed.Authorization;
  }

  /** Makes one attempt. A message that is sent twice replaces itself while the browser is offline, because it has the same topic. */
  return async function send(
    { endpoint, p256dh, auth }: SubscriptionToSend,
    message: PushMessage,
  ): Promise<PushResult> {
    // Loaded for the first message, so that the start does not wait.
    const { default: webPush } = await import('web-push');
    const url = new URL(endpoint);
    const { cipherText: body } = webPush.encrypt(p256dh, auth, JSON.stringify(message), 'aes128gcm');
    const headers = {
      authorization: sign(webPush, url.origin),
      ttl,
      urgency: 'normal',
      topic: `notification-${message.id}`,
      'content-type': 'application/octet-stream',
      'content-encoding': 'aes128gcm',
      'content-length': body.length,
    };
    try {
      const request = { method: 'POST', headers, body, timeout: attemptTime, allowsLoopback } as const;
      return resultOf(await guardedFetch(url, request));
    } catch (error) {
      return { outcome: 'failed', reason: reasonOf(error), pause: 0 };
    }
  };
}

function resultOf({ status, headers }: { status: number; headers: IncomingHttpHeaders }): PushResult {
  const result = { reason: `status ${status}`, pause: 0 };
  if (status >= 200 && status < 300) return { ...result, outcome: 'sent' };
  if (status === 404 || status === 410) return { ...result, outcome: 'gone' };
  if (status < 500 && status !== 408 && status !== 429) return { ...result, outcome: 'rejected' };
  return { ...result, outcome: 'failed', pause: pauseOf(headers['retry-after']) };
}

/** The seconds of a `Retry-After` header, which has seconds or a date (RFC 9110, section 10.2.3). */
function pauseOf(retryAfter = ''): number {
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1_000;
  return Math.min(longestPause, Math.max(0, seconds || 0));
}
