/** SQLSTATE of a write to a server that takes none, such as a standby. */
export const readOnlyState = '25006';

/** Codes of temporary errors. */
const unavailableCodes = [
  // SQLSTATE classes and codes (PostgreSQL manual, appendix A).
  /^(08...|53...|57P0.|57014|55P03|40001|40P01|25006|25P0[34]|58...)$/,
  // Node.
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/,
  // Prisma: unreachable, timed out, closed, write conflict or deadlock, too many connections.
  /^P(1001|1002|1008|1017|2034|2037)$/,
  // The kinds of Prisma's driver adapter.
  /^(DatabaseNotReachable|ConnectionClosed|SocketTimeout|TransactionWriteConflict|TooManyConnections)$/,
];

/** Errors of `pg` and Prisma without a code. */
const unavailableMessages =
  /Query read timeout|timeout exceeded when trying to connect|Connection terminated|not queryable|Cannot use a pool after calling end|Client has encountered a connection error/;

/**
 * The code or the text by which an error, or one of its causes, means that the database is unavailable and a retry makes sense;
 * undefined for other errors.
 */
export function unavailableReason(error: unknown, depth = 5): string | undefined {
  if (error === null || typeof error !== 'object' || depth === 0) return undefined;
  const { code, originalCode, kind, message, cause, meta } = error as Record<string, unknown>;
  const codes = [code, originalCode, kind].filter((value) => typeof value === 'string');
  const known = codes.find((value) => unavailableCodes.some((known) => known.test(value)));
  const text = typeof message === 'string' ? unavailableMessages.exec(message)?.[0] : undefined;
  return known ?? text ?? unavailableReason(Object(meta).driverAdapterError ?? cause, depth - 1);
}

/** Whether a statement failed because another row has the same value in a unique index. */
export function isUniqueViolation(error: unknown): boolean {
  return hasCode(error, 'P2002', '23505');
}

/** Whether Prisma's client failed because of a foreign key. */
export function isForeignKeyViolation(error: unknown): boolean {
  return hasCode(error, 'P2003');
}

/** Whether an error has one of these codes: PostgreSQL's SQLSTATE, or a code of Prisma's or Node.js. */
export function hasCode(error: unknown, ...codes: unknown[]): error is Error {
  return error instanceof Error && 'code' in error && codes.includes(error.code);
}

/** The message of an error, in one line: PostgreSQL's own where Prisma quotes it. Connection errors may have a code only. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an error without a message';
  const code = 'code' in error ? String(error.code) : error.name;
  const [, quoted] = /invocation:.* Message: `([^`]+)`\s*$/s.exec(error.message) ?? [];
  return (quoted || error.message || code).replace(/\s+/g, ' ').trim();
}
