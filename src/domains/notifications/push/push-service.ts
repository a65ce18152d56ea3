import type { IncomingHttpHeaders } from 'node:http';
import type { Vapid } from '../../../infrastructure/config/private-keys.ts';
import { reasonOf } from '../../../infrastructure/database/errors.ts';
import { type CallableUrls, guardedFetch } from '../../../infrastructure/guarded-fetch.ts';
import type { PushMessage } from '../inbox/schemas.ts';
import type { SubscriptionToSend } from './repository.ts';

/** Milliseconds of an attempt. */
const attemptTime = 5_000;

/** Seconds for which push services keep a message for a browser that is offline. */
const ttl = 4 * 86_400;

/** 32 characters of base64url, the most that there may be. Apple decodes it, so it refuses a length of 1 modulo 4. */
const topicOf = (id: number) => `notification-${String(id).padStart(19, '0')}`;

/** Seconds: a push service cannot ask for a longer pause. */
const longestPause = 86_400;

/** What became of a message: `rejected` is not tried again, `gone` means that the subscription has ended. */
interface PushResult {
  outcome: 'sent' | 'failed' | 'rejected' | 'gone';
  reason: string;
  /** Seconds for which the push service wants no other attempt. */
  pause: number;
}

/**
 * Makes one attempt to send a message, encrypted for the browser (RFC 8291) and signed (RFC 8292). A message that is sent twice
 * replaces itself while the browser is offline, because it has the same topic.
 */
export async function sendToPushService(
  { endpoint, p256dh, auth }: SubscriptionToSend,
  message: PushMessage,
  { vapidDetails, ...callable }: CallableUrls & { vapidDetails: Vapid },
): Promise<PushResult> {
  // Loaded for the first message, so that the start does not wait.
  const { default: webPush } = await import('web-push');
  const { headers, body } = webPush.generateRequestDetails(
    { endpoint, keys: { p256dh, auth } },
    JSON.stringify(message),
    { vapidDetails, TTL: ttl, topic: topicOf(message.id), contentEncoding: 'aes128gcm' },
  );
  try {
    const request = { headers, body, timeout: attemptTime, ...callable } as const;
    return resultOf(await guardedFetch(new URL(endpoint), request));
  } catch (error) {
    return { outcome: 'failed', reason: reasonOf(error), pause: 0 };
  }
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
