/** A statement of a migration. */
export interface Statement {
  /** In upper case and with single spaces; without comments, and with empty strings and bodies. */
  text: string;
  /** What stands between dollar signs, such as the body of a function, treated in the same way. */
  body: string;
  /** The comments in front of it and within. */
  comments: string[];
  /** Lines of the file, from 1: of its first comment or word, of its first word, and its last one. */
  lines: { start: number; first: number; last: number };
}

const token =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]*"|\$(\w*)\$([\s\S]*?)\$\1\$|;|\s+|[^\s\-/'"$;]+|[\s\S]/g;

/** Divides the text of a migration into its statements. It does not judge them: squawk has a parser. */
export function splitStatements(sql: string): Statement[] {
  const statements: Statement[] = [];
  let line = 1;
  let current = begin();
  for (const [part, , body] of sql.matchAll(token)) {
    if (part === ';') {
      if (current.text !== '') finish();
    } else if (/^\s+$/.test(part)) {
      if (current.text !== '') current.text += ' ';
    } else {
      add(part, body);
    }
    line += part.split('\n').length - 1;
  }
  if (current.text !== '') finish();
  return statements;

  function begin(): Statement {
    return { text: '', body: '', comments: [], lines: { start: 0, first: 0, last: 0 } };
  }

  function finish(): void {
    statements.push({ ...current, text: normalize(current.text) });
    current = begin();
  }

  function add(part: string, body: string | undefined): void {
    current.lines.start ||= line;
    if (part.startsWith('--') || part.startsWith('/*')) {
      current.comments.push(part);
      return;
    }
    current.lines.first ||= line;
    current.lines.last = line + part.split('\n').length - 1;
    if (body !== undefined) current.body += normalize(body.replace(/--[^\n]*|'(?:[^']|'')*'/g, ' '));
    current.text += body === undefined ? part.replace(/^'[\s\S]*'$/, "''") : '$$';
  }
}

function normalize(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toUpperCase();
}
