/**
 * Whether a mail client would turn part of the text into a link. Whoever signs up with somebody else's address
 * chooses the name in the mails to that address, so such a name is not repeated there.
 */
const linkLike = /:\/\/|www\.|[\p{L}\p{N}]\.[\p{L}]{2,}/iu;

/** The name to greet somebody with, or nothing when it could carry a link. */
export function greetableName(name: string): string | undefined {
  return name.trim() === '' || linkLike.test(name) ? undefined : name;
}

/** A duration in the largest unit that says it exactly. Never longer than it is: part of a minute is dropped. */
export function wholeUnits(minutes: number): { amount: number; unit: 'minute' | 'hour' } {
  const whole = Math.max(1, Math.floor(minutes));
  return whole % 60 === 0 ? { amount: whole / 60, unit: 'hour' } : { amount: whole, unit: 'minute' };
}

const millisecondsPerHour = 3_600_000;
/** Korea has had no daylight saving time since 1988. */
const seoulOffset = 9 * millisecondsPerHour;

/**
 * The same moment as a date whose UTC fields read as Seoul's clock. By hand instead of with `Intl`, whose wording
 * differs between ICU versions: a retry after an upgrade of Node must render the same bytes.
 */
export function inSeoul(moment: Date): Date {
  return new Date(moment.getTime() + seoulOffset);
}

/** `15:04` of the date's UTC fields. */
export function clock(moment: Date): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  return `${twoDigits(moment.getUTCHours())}:${twoDigits(moment.getUTCMinutes())}`;
}
