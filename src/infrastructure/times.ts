/** Milliseconds. Korea has had no daylight saving time since 1988. */
export const koreanOffset = 9 * 3_600_000;

/** A time in Korea, on a 12-hour clock. Not with `Intl`, whose output changes: an email that is sent again has the same bytes. */
export function timeInKorea(moment: Date) {
  const local = new Date(moment.getTime() + koreanOffset);
  const hours = local.getUTCHours();
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    isMorning: hours < 12,
    hour: hours % 12 || 12,
    minute: local.getUTCMinutes(),
  };
}

/** Whether a text is a day that exists, such as `2026-01-31`. PostgreSQL has no year 0. */
export function isDate(text: string): boolean {
  const time = /^[1-9]\d{3}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(text);
}

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
