/** A row inside JSON, where times are texts. */
export type InJson<Row> = { [Name in keyof Row]: Row[Name] extends Date ? string : Row[Name] };

/**
 * A time as the API shows it. In JSON, PostgreSQL writes it in the time zone of the connection and without zeros at the end. Connections
 * are in UTC, which takes a fortieth of the time that a `Date` does; a pooler may have another zone.
 */
export function toUtc(time: Date | string): string {
  if (typeof time !== 'string') return time.toISOString();
  if (!time.endsWith('+00:00')) return new Date(time).toISOString();
  const local = time.slice(0, -'+00:00'.length);
  return `${(local.includes('.') ? local : `${local}.`).padEnd('2026-01-31T09:30:00.000'.length, '0')}Z`;
}
