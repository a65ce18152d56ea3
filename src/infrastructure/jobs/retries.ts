/** Attempts of a job, within four days. */
export const maxAttempts = 25;

/** Seconds after so many failed attempts, as graphile-worker waits: 3 after the first, six hours at most. */
export const retryDelay = (attempts: number) => Math.exp(Math.min(attempts, 10));

/**
 * The seconds of a `Retry-After` header, which has seconds or a date (RFC 9110, section 10.2.3); 0 where it cannot be read.
 *
 * @param longest a server cannot ask for a longer pause
 */
export function retryAfterSeconds(header = '', longest: number): number {
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Math.min(longest, Math.max(0, seconds || 0));
}
