import type { Language } from '@dure/client';

const storageKey = 'dure.language';

/** The language that the user chose here before, else that of the browser: Korean unless it prefers another one. */
export const language: Language = chosenBefore() ?? (/^ko/i.test(navigator.language) ? 'ko' : 'en');

/** The text in the language of the page. The two stand together, so that neither is forgotten. */
export function t(korean: string, english: string): string {
  return language === 'ko' ? korean : english;
}

/** Loads the page in another language: texts of the service are read again, too. */
export function changeLanguage(chosen: Language): void {
  localStorage.setItem(storageKey, chosen);
  location.reload();
}

function chosenBefore(): Language | undefined {
  try {
    const stored = localStorage.getItem(storageKey);
    return stored === 'ko' || stored === 'en' ? stored : undefined;
  } catch {
    // Blocked storage: the language of the browser counts.
    return undefined;
  }
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago a moment was, up to a week; after that its date. */
export function describeTime(moment: string): string {
  const age = Date.now() - Date.parse(moment);
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  if (age < minute) return t('방금', 'just now');
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
  return t(`걸어서 ${minutes}분`, `${minutes} min walk`);
}
