/** More texts than the code has; of those that depend on the number of values, the oldest names are forgotten. */
const maxKnown = 1_000;
const known = new Map<string, string>();

/**
 * A readable name of a statement: its first verb that says what it does, and the table or function of it, as in
 * `SELECT users` or `INSERT notifications`. It has identifiers only, never a value.
 */
export function statementSummary(text: string): string {
  let summary = known.get(text);
  if (summary === undefined) {
    if (known.size >= maxKnown) known.clear();
    summary = summarize(text);
    known.set(text, summary);
  }
  return summary;
}

const name = '([a-z_][a-z0-9_]*(?:\\.[a-z_][a-z0-9_]*)*)';
/** The table of a statement that writes, also within `WITH`. */
const writes = new RegExp(`\\b(INSERT INTO|DELETE FROM|UPDATE)\\s+(?:ONLY\\s+)?${name}`, 'i');
const reads = new RegExp(`\\bFROM\\s+(?:ONLY\\s+)?${name}(?![\\w.]|\\s*\\()`, 'i');
const calls = new RegExp(`^SELECT\\s+(?:\\w+\\s*\\(\\s*)?${name}\\s*\\(`, 'i');
/** `FROM` that names no table. */
const otherFrom =
  /\b(?:extract|substring|trim|overlay)\s*\(\s*[^()]*?\bFROM\b|\bIS\s+(?:NOT\s+)?DISTINCT\s+FROM\b/gi;
/** What may contain such words without being SQL. */
const literals = /'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\//g;

function summarize(text: string): string {
  const plain = text
    .replace(literals, ' ')
    .replaceAll('"', '')
    .replace(otherFrom, '(')
    // A lock is no write.
    .replace(/\bFOR\s+(?:NO\s+KEY\s+)?UPDATE\b|\bDO\s+UPDATE\b/gi, ' ')
    .trim();
  const verb = /^[a-z]+/i.exec(plain)?.[0].toUpperCase() ?? 'statement';
  if (!['SELECT', 'WITH', 'INSERT', 'UPDATE', 'DELETE'].includes(verb)) return verb;
  const write = writes.exec(plain);
  if (write) return `${write[1]?.split(/\s/)[0]?.toUpperCase()} ${unqualified(write[2])}`;
  const read = reads.exec(plain)?.[1] ?? calls.exec(plain)?.[1];
  return read === undefined ? 'SELECT' : `SELECT ${unqualified(read)}`;
}

/** Prisma names the schema, hand-written statements only where it is another one. */
function unqualified(table: string | undefined): string {
  return (table ?? '').replace(/^public\./, '');
}
