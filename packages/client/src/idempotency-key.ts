/**
 * A key for a form: with each attempt to send it, `{ idempotencyKey }` gives the first success again instead of creating a second
 * object. A random one that cannot be guessed, as far as the platform has `crypto`: React Native has none, nor pages without HTTPS.
 */
export function newIdempotencyKey(): string {
  const weak = () => Array.from({ length: 3 }, () => Math.random().toString(36).slice(2)).join('-');
  return globalThis.crypto?.randomUUID?.() ?? weak();
}
