import { createHash } from 'node:crypto';
import { Prisma } from './generated/client.ts';

/** A statement, or a part of one, with its values apart from its text. */
export type Sql = Prisma.Sql;

/**
 * Writes SQL: interpolated values become parameters, interpolated `Sql` becomes part of the text.
 *
 * The text should depend on the code only, never on the number of values (use `= ANY (${ids})`), because each distinct text is
 * prepared once per connection, which keeps what is prepared, up to 0.5 MiB, until it ends.
 */
export const sql = Prisma.sql;

/** Inserts a constant into SQL as it is. Never for anything that a client sent. */
export const raw = Prisma.raw;

/** SQL that adds nothing. */
export const empty = Prisma.empty;

/** Joins parts of SQL, at least one, with a separator. */
export const join = Prisma.join;

/** A number that depends on the code only. */
export const constant = (number: number): Sql => raw(String(number));

/** True where all conditions are. */
export const allOf = (conditions: Sql[]): Sql =>
  conditions.length > 0 ? join(conditions, ' AND ') : sql`true`;

const names = new Map<string, string>();

/** The name under which PostgreSQL keeps a prepared statement: derived from its text, so that one name has one text. */
export function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url');
    names.set(text, name);
  }
  return name;
}
