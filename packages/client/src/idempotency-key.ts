/**
 * A key for a form: with each attempt to send it, `{ idempotencyKey }` gives the first success again instead of creating a second
 * object. It need not be secret, only unique: React Native has no `crypto`.
 */
export function newIdempotencyKey(): string {
  return Array.from({ length: 3 }, () => Math.random().toString(36).slice(2)).join('-');
}
