import { useSyncExternalStore } from 'react';
import { m } from './paraglide/messages.js';
import { type Locale, locales, overwriteGetLocale } from './paraglide/runtime.js';
import { ifAllowed } from './storage.ts';

const storageKey = 'dure.language';
const listeners = new Set<() => void>();

/** The language that the user chose here before, else that of the browser, where the app has it. */
let language: Locale =
  find(ifAllowed(() => localStorage.getItem(storageKey))) ?? find(navigator.language) ?? 'en';
overwriteGetLocale(() => language);

export const currentLanguage = (): Locale => language;

/** The language of the page, for a component that shows its texts again when another one is chosen. */
export function useLanguage(): Locale {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentLanguage);
}

/** Shows the page in another language. */
export function changeLanguage(chosen: Locale): void {
  language = chosen;
  for (const listener of listeners) listener();
  ifAllowed(() => localStorage.setItem(storageKey, chosen));
}

function find(name: string | null | undefined): Locale | undefined {
  return locales.find((locale) => name?.toLowerCase().startsWith(locale));
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago a moment was, up to a week; after that its date. */
export function describeTime(moment: string): string {
  const age = Date.now() - Date.parse(moment);
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  if (age < minute) return m.just_now();
  if (age < hour) return relative.format(-Math.floor(age / minute), 'minute');
  if (age < day) return relative.format(-Math.floor(age / hour), 'hour');
  if (age < 7 * day) return relative.format(-Math.floor(age / day), 'day');
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(new Date(moment));
}

/** How long something takes, in its largest unit. */
export function describeDuration(seconds: number): string {
  const [amount, unit] =
    seconds < 60
      ? [seconds, 'second']
      : seconds < 3_600
        ? [seconds / 60, 'minute']
        : [seconds / 3_600, 'hour'];
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(
    Math.ceil(amount),
  );
}

/** A day of the calendar, which is the same everywhere. */
export function describeDay(date: string): string {
  const format = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(date));
}

/** In metres, as map services count. */
const walkedInAMinute = 67;
const longestWalk = 30;

/** How far it is to walk, and for what is too far the kilometres. */
export function describeDistance(metres: number): string {
  const minutes = Math.max(1, Math.round(metres / walkedInAMinute));
  if (minutes > longestWalk) return `${(metres / 1_000).toFixed(metres < 10_000 ? 1 : 0)}km`;
  return m.min_walk({ minutes });
}
