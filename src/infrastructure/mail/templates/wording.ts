/**
 * Matches text that mail clients turn into a link. Anybody can sign up with a foreign address and choose the name in the
 * mails to it, so such a name is left out.
 */
const linkLike = /:\/\/|www\.|[\p{L}\p{N}]\.[\p{L}]{2,}/iu;

/** The name for the greeting, or undefined when it is empty or looks like a link. */
export function greetableName(name: string): string | undefined {
  const trimmed = name.trim();
  return trimmed === '' || linkLike.test(trimmed) ? undefined : trimmed;
}

/** A duration in the largest exact unit, rounded down to a minute. */
export function wholeUnits(minutes: number): { amount: number; unit: 'minute' | 'hour' } {
  const whole = Math.max(1, Math.floor(minutes));
  return whole % 60 === 0 ? { amount: whole / 60, unit: 'hour' } : { amount: whole, unit: 'minute' };
}

/** Date and time as a calendar and a 12-hour clock show them. */
interface LocalTime {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  half: 'am' | 'pm';
  /** 1 to 12: midnight is 12 am, noon is 12 pm. */
  hour: number;
  minute: number;
}

/** Milliseconds. Korea has had no daylight saving time since 1988. */
const seoulOffset = 9 * 3_600_000;

/**
 * The time in Seoul. Not with `Intl`, whose output differs between ICU versions: a retry after an upgrade of Node must
 * render the same bytes.
 */
export function timeInSeoul(moment: Date): LocalTime {
  const seoul = new Date(moment.getTime() + seoulOffset);
  const hours = seoul.getUTCHours();
  return {
    year: seoul.getUTCFullYear(),
    month: seoul.getUTCMonth() + 1,
    day: seoul.getUTCDate(),
    half: hours < 12 ? 'am' : 'pm',
    hour: hours % 12 || 12,
    minute: seoul.getUTCMinutes(),
  };
}
