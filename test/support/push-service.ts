import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { importJWK, jwtVerify } from 'jose';
import type { Test } from 'tap';
import type { Json } from './json.ts';
import { serve } from './serve.ts';
import { until } from './until.ts';

/** How a push service answers: with a status, or as a handler of the test does. */
export type PushAnswer = number | ((response: ServerResponse) => void);

/** A message as the browser reads it, with what the push service saw. */
interface ReceivedPush {
  message: Json;
  headers: IncomingHttpHeaders;
  /** The claims of the token by which the sender names itself, whose signature is right, and its public key. */
  claims: Json;
  publicKey: string;
}

/** A browser with a subscription of the push service. */
export type SubscribedBrowser = ReturnType<typeof createBrowser>;
/** A push service on this machine, for browsers that it makes up. It decrypts messages as they would. */
export type PushService = Awaited<ReturnType<typeof createPushService>>;

/** Starts a push service that stops with the test. */
export async function createPushService(t: Test) {
  const browsers = new Map<string, SubscribedBrowser>();
  const url = await serve(t, async (request, response) => {
    const browser = browsers.get(request.url ?? '');
    if (browser === undefined) return response.writeHead(404).end();
    const { refusal, ...received } = await browser.take(request);
    browser.attempts += 1;
    if (refusal !== undefined) {
      browser.refusals.push(refusal);
      return response.writeHead(400).end();
    }
    if (typeof browser.answer === 'function') return browser.answer(response);
    if (browser.answer < 300) browser.received.push(received);
    return response.writeHead(browser.answer).end();
  });
  return {
    url,
    subscribe(answer: PushAnswer = 201) {
      const path = `/send/${randomBytes(24).toString('base64url')}`;
      const browser = createBrowser(url, path, answer);
      browsers.set(path, browser);
      return browser;
    },
  };
}

function createBrowser(url: string, path: string, answer: PushAnswer) {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  const auth = randomBytes(16);
  const refusals: string[] = [];
  const received: ReceivedPush[] = [];
  return {
    /** What `toJSON()` of its subscription gives. */
    subscription: {
      endpoint: `${url}${path}`,
      expirationTime: null,
      keys: { p256dh: keys.getPublicKey('base64url'), auth: auth.toString('base64url') },
    },
    /** How the push service answers from now on; it takes each message at first. */
    answer,
    /** Attempts that reached the push service. */
    attempts: 0,
    /** Why attempts were refused that Apple, Mozilla or Google would refuse. */
    refusals,
    /** What was taken, in order. */
    received,
    /** Waits for the message after the first `skip` ones. */
    next: (skip = 0) =>
      until('a push message', () => {
        if (refusals.length > 0) throw new Error(`refused: ${refusals}`);
        return received[skip];
      }),
    async take(request: IncomingMessage) {
      const { headers } = request;
      const body = await buffer(request);
      const message: Json = JSON.parse(decrypt(body, keys, auth));
      const vapid = await readVapid(headers.authorization, url);
      return { message, headers, ...vapid, refusal: refusalOf(headers, vapid.claims, body.length) };
    },
  };
}

/**
 * Why one of the services of Apple, Mozilla and Google refuses a message, which each read some of it more strictly than RFC 8030,
 * 8188 and 8292; undefined when all of them take it.
 */
function refusalOf(headers: IncomingHttpHeaders, claims: Json, size: number): string | undefined {
  const { topic = 'none', ttl = '', urgency = 'normal' } = headers;
  const secondsLeft = claims.exp - Date.now() / 1_000;
  const problems = {
    topic: !/^[\w-]{1,32}$/.test(String(topic)) || topic.length % 4 === 1,
    ttl: !/^\d+$/.test(String(ttl)) || Number(ttl) > 28 * 86_400,
    urgency: !['very-low', 'low', 'normal', 'high'].includes(String(urgency)),
    sub: !/^(mailto:[^@\s]+@|https:\/\/)([a-z\d-]+\.)+(?!localhost|invalid)[a-z]{2,}(\/|$)/.test(claims.sub),
    exp: !(secondsLeft > 0 && secondsLeft <= 86_400),
    encoding: headers['content-encoding'] !== 'aes128gcm',
    payload: size > 4_096,
  };
  const wrong = Object.entries(problems).filter(([, isWrong]) => isWrong);
  return wrong.length > 0 ? wrong.map(([name]) => name).join() : undefined;
}

/** Decrypts a body of one record in `aes128gcm` (RFC 8188) with the keys of a subscription (RFC 8291). */
function decrypt(body: Buffer, keys: ECDH, auth: Buffer): string {
  const derive = (secret: Buffer, salt: Buffer, info: Buffer | string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, info, length));
  const salt = body.subarray(0, 16);
  const keyEnd = 21 + (body[20] ?? 0);
  const sender = body.subarray(21, keyEnd);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), sender]);
  const secret = derive(keys.computeSecret(sender), auth, info, 32);
  const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derive(secret, salt, 'Content-Encoding: nonce\0', 12);
  const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(body.subarray(-16));
  const record = Buffer.concat([decipher.update(body.subarray(keyEnd, -16)), decipher.final()]);
  // Padding follows the delimiter of the last record.
  return record.subarray(0, record.lastIndexOf(2)).toString();
}

/** Reads the header of RFC 8292. @throws when its token is not for this push service, or not signed by its key */
async function readVapid(authorization = '', audience: string) {
  const [, token = '', publicKey = ''] = /^vapid t=(\S+), k=(\S+)$/.exec(authorization) ?? [];
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const key = await importJWK({ kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }, 'ES256');
  const { payload } = await jwtVerify(token, key, { audience, algorithms: ['ES256'] });
  return { claims: payload, publicKey };
}
