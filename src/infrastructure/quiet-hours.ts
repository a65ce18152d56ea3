const minute = 60_000;
const day = 24 * 60 * minute;

/** Milliseconds. Korea has had no daylight saving time since 1988. */
export const koreanOffset = 9 * 60 * minute;

/** As `HH:MM` in Korea; they span midnight when `from` is the later one. */
export interface QuietHours {
  from: string;
  to: string;
}

/**
 * When the quiet hours that a moment is within end: `from` is the first moment within them, `to` the first one after them.
 *
 * @returns undefined for a moment outside them
 */
export function quietUntil(now: Date, hours: QuietHours | null): Date | undefined {
  if (hours === null) return undefined;
  const from = timeOfDay(hours.from);
  const length = (timeOfDay(hours.to) - from + day) % day;
  const elapsed = (((now.getTime() + koreanOffset) % day) - from + day) % day;
  return elapsed < length ? new Date(now.getTime() + length - elapsed) : undefined;
}

/** Milliseconds after midnight. */
function timeOfDay(time: string): number {
  return (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * minute;
}
