import type { Language, MailPurpose, MailTopic } from '../database/generated/enums.ts';
import { timeInKorea } from '../times.ts';

/** What the queue has to know of a kind of email. */
export interface MailRules {
  /** Of its jobs, 0 by default; smaller ones come first. -10: a user waits for it, 10: many are sent at once, which delay no others. */
  priority?: -10 | 10;
  /** How many emails of a purpose an address gets within an hour. Each kind that anyone can request, or that its recipient did not request, has one. */
  cap?: { purpose: MailPurpose; perHour: number };
  /** With which its recipient can switch it off. */
  topic?: MailTopic;
}

/** A kind of email, defined once, in the domain that sends it. */
export interface MailKind<Fields> extends MailRules {
  /** Why the recipient got it: shown at its end. */
  reason: Record<Language, string>;
  ko(fields: Fields): MailContent;
  en(fields: Fields): MailContent;
}

/** The kinds of all domains, by their names. */
export type MailKinds = Record<string, MailRules>;

/** Defines a kind of email whose texts depend on the fields. With a `name`, it begins with a greeting. */
export const mailKind = <Fields extends object>(kind: MailKind<Fields>) => kind;

/**
 * One part of an email: a paragraph, a smaller note, a code or username to copy, the main action, a second one, or text that another
 * user wrote, which alone keeps its line feeds.
 */
export type Block =
  | string
  | { type: 'note' | 'code' | 'quote'; text: string }
  | { type: 'button' | 'link'; text: string; url: string };

/** The content of an email in one language, before it is rendered as text and HTML. */
export interface MailContent {
  subject: string;
  /** Shown by mail clients beside the subject. */
  preheader: string;
  heading: string;
  blocks: Block[];
}

export const note = (text: string): Block => ({ type: 'note', text });
export const code = (text: string): Block => ({ type: 'code', text });
export const button = (text: string, url: string): Block => ({ type: 'button', text, url });
export const link = (text: string, url: string): Block => ({ type: 'link', text, url });
export const quote = (text: string): Block => ({ type: 'quote', text });

/** An email as it is before it is rendered. */
export interface WrittenMail extends MailContent {
  language: Language;
  /** Of the recipient, for a greeting. */
  name: string | undefined;
  reason: string;
}

/** Writes an email of a kind. */
export function writeMail<Fields extends object>(
  kind: MailKind<Fields>,
  language: Language,
  fields: Fields,
): WrittenMail {
  const name = 'name' in fields ? String(fields.name) : undefined;
  return { language, name, reason: kind.reason[language], ...kind[language](fields) };
}

// Characters that change the direction of text. In a name they could make the rest of a line read differently.
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Removes line feeds and control characters, so that user text cannot inject a header or a line of its own. */
export function singleLine(text: string): string {
  return text
    .replace(bidiControls, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** The lines of a text, each as {@link singleLine}. */
export function lines(text: string): string[] {
  return text.split(/\r\n|[\n\r\u0085\u2028\u2029]/).map(singleLine);
}

/**
 * Matches text that email clients turn into a link. Anybody can sign up with a foreign address and choose the name in emails to it.
 */
const linkLike = /:\/\/|www\.|\S@\S|[\p{L}\p{N}]\.[\p{L}\p{M}]{2,}|(?:\p{Nd}[\s().+\-–]*){7}/iu;

/** The name for the greeting, or undefined when it is empty or looks like a link, in any width and with any of the dots of domains. */
export function greetableName(name: string): string | undefined {
  const trimmed = name.trim();
  const visible = trimmed
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replaceAll('。', '.');
  return trimmed === '' || linkLike.test(visible) ? undefined : trimmed;
}

const durationIn = (units: Record<'minute' | 'hour', (amount: number) => string>) => (minutes: number) => {
  const whole = Math.max(1, Math.floor(minutes));
  return whole % 60 === 0 ? units.hour(whole / 60) : units.minute(whole);
};
const counted = (noun: string) => (count: number) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A duration in the largest exact unit, rounded down to a minute. */
export const duration: Record<Language, (minutes: number) => string> = {
  ko: durationIn({ minute: (count) => `${count}분`, hour: (count) => `${count}시간` }),
  en: durationIn({ minute: counted('minute'), hour: counted('hour') }),
};

const months = 'January February March April May June July August September October November December'.split(
  ' ',
);

/** A time in Korea, as a text. */
export const date: Record<Language, (moment: Date) => string> = {
  /** As `2026년 3월 5일 오전 9시 8분(한국 시간)`; midnight is 오전 12시 and noon 오후 12시, as phones in Korea show them. */
  ko(moment) {
    const { year, month, day, isMorning, hour, minute } = timeInKorea(moment);
    const time = `${isMorning ? '오전' : '오후'} ${hour}시${minute === 0 ? '' : ` ${minute}분`}`;
    return `${year}년 ${month}월 ${day}일 ${time}(한국 시간)`;
  },
  /** As `4 March 2026 at 9:08 a.m. in Korea (00:08 UTC)`, with the date of UTC as well where it is another one. */
  en(moment) {
    const { year, month, day, isMorning, hour, minute } = timeInKorea(moment);
    const time = `${hour}:${String(minute).padStart(2, '0')} ${isMorning ? 'a.m.' : 'p.m.'}`;
    const utcDay = moment.getUTCDate();
    const utcDate = utcDay === day ? '' : `${utcDay} ${months[moment.getUTCMonth()]}, `;
    const utc = `${utcDate}${moment.toISOString().slice(11, 16)} UTC`;
    return `${day} ${months[month - 1]} ${year} at ${time} in Korea (${utc})`;
  },
};
