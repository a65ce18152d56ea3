import type { Language } from './preferred-language.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago a moment was, up to a week; after that its date. */
export function describeTime(moment: string, language: Language, now = Date.now()): string {
  const age = now - Date.parse(moment);
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  if (age < minute) return relative.format(0, 'second');
  if (age < hour) return relative.format(-Math.floor(age / minute), 'minute');
  if (age < day) return relative.format(-Math.floor(age / hour), 'hour');
  if (age < 7 * day) return relative.format(-Math.floor(age / day), 'day');
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(new Date(moment));
}

/** A day of the calendar, which is the same everywhere. */
export function describeDay(date: string, language: Language): string {
  const format = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(date));
}
