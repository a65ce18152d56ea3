/**
 * How many of libuv's threads argon2 and sharp use at once. Conversions leave a core to other requests, and together with the
 * hashes they leave a thread to file and DNS work. Twice as many threads as cores, which the image and `npm start` set, are enough
 * for both.
 *
 * @param threads `UV_THREADPOOL_SIZE`
 */
export function shareThreads(threads: number, cores: number): { hashes: number; conversions: number } {
  const hashes = Math.max(1, Math.min(cores, threads - 2));
  return { hashes, conversions: Math.max(1, Math.min(cores - 1, threads - 1 - hashes)) };
}
