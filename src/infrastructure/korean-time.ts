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
