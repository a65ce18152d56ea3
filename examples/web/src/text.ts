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

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The language of the page, for a component that shows its texts again when another one is chosen. */
export const useLanguage = () => useSyncExternalStore(subscribe, currentLanguage);

export function changeLanguage(chosen: Locale): void {
  language = chosen;
  for (const listener of listeners) listener();
  ifAllowed(() => localStorage.setItem(storageKey, chosen));
}

function find(name: string | null | undefined): Locale | undefined {
  return locales.find((locale) => name?.toLowerCase().startsWith(locale));
}

const units = { day: 86_400, hour: 3_600, minute: 60, second: 1 };

/** The largest unit that fits into a time. */
function inUnits(seconds: number): { unit: keyof typeof units; amount: number } {
  const fits = (unit: keyof typeof units) => seconds >= units[unit];
  const unit = (['day', 'hour', 'minute'] as const).find(fits) ?? 'second';
  return { unit, amount: seconds / units[unit] };
}

/** How long ago a moment was, up to a week; after that its date. */
export function describeTime(moment: string): string {
  const { unit, amount } = inUnits((Date.now() - Date.parse(moment)) / 1_000);
  if (unit === 'second') return m.just_now();
  if (unit !== 'day' || amount < 7)
    return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(-Math.floor(amount), unit);
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(new Date(moment));
}

export function describeDuration(seconds: number): string {
  const { unit, amount } = inUnits(seconds);
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.ceil(amount));
}

/** A day of the calendar, which is the same everywhere. */
export function describeDay(date: string): string {
  const format = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(date));
}

/** How far it is to walk, and for what is too far the kilometres. */
export function describeDistance(metres: number): string {
  // 67 m in a minute, as map services count.
  const minutes = Math.max(1, Math.round(metres / 67));
  if (minutes > 30) return `${(metres / 1_000).toFixed(metres < 10_000 ? 1 : 0)}km`;
  return m.min_walk({ minutes });
}
