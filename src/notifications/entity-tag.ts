/**
 * Whether a client that sends an `If-None-Match` header has the present answer already (RFC 9110, section 13.1.2: a list of
 * tags, compared weakly, or `*`).
 *
 * @param tag the present tag, in quotes
 */
export function hasCurrent(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const known: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return known.includes(tag);
}
