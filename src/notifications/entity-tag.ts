/**
 * Whether an `If-None-Match` header matches an entity tag (RFC 9110, section 13.1.2: a list of tags, compared weakly, or `*`).
 *
 * @param tag the current tag, in quotes
 */
export function matchesEntityTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const known: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return known.includes(tag);
}
