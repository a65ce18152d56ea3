import { koreanOffset } from '../quiet-hours.ts';

/** What the text of each kind of email depends on. */
interface Fields {
  verification_code: { code: string; url: string; minutes: number };
  account_exists: { username: string; loginUrl: string; resetUrl: string };
  reset_link: { name: string; url: string; minutes: number };
  /** Whether the session that changed it ended, too; a reset begins at the URL. */
  password_changed: { name: string; changedAt: Date; ended: 'all' | 'others'; url: string };
  /** The new address is masked; the URL undoes the change. */
  email_changed: { name: string; newEmail: string; changedAt: Date; url: string };
  login_method_changed: {
    name: string;
    change: 'added' | 'removed';
    method: 'identity' | 'passkey' | 'second_factor';
    /** The name of the provider or of the passkey; may be empty. */
    label: string;
    changedAt: Date;
    /** Where a reset of the password begins. */
    url: string;
  };
  marketing_consent: { name: string; givenAt: Date; url: string };
  user_id: { name: string; username: string };
  partner_request_received: RequestFields & { message: string };
  partner_request_accepted: RequestFields;
  partner_request_declined: RequestFields;
  partner_request_ended: RequestFields;
  saved_search_match: RequestFields & { searchName: string };
}

interface RequestFields {
  name: string;
  /** The other side of the request, or the store that wrote the post. */
  storeName: string;
  postTitle: string;
  url: string;
}

type MailKind = keyof Fields;

/** Every email of the service, with all that its text depends on. */
export type Mail<Kind extends MailKind = MailKind> = { [K in Kind]: { kind: K } & Fields[K] }[Kind];

export interface Wording {
  language: string;
  brand: string;
  tagline: string;
  /** The link that switches such emails off. */
  unsubscribe: string;
  /** Shown above the URL under a button. */
  linkFallback: string;
  /** Why the recipient got an email: about the account, and about partnerships. */
  accountReason: string;
  partnerReason: string;
  /** @param name undefined where the name cannot be used */
  greeting(name: string | undefined): string;
  mails: { [Kind in MailKind]: (fields: Fields[Kind]) => MailContent };
}

/**
 * One part of an email, from which text and HTML are rendered: a paragraph, a smaller note, a code or user id to copy, the main
 * action, a second one, or text that another user wrote, which alone keeps its line feeds.
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
  /** Why the recipient got this email, where no reason of the wording is right. */
  reason?: string;
}

export const note = (text: string): Block => ({ type: 'note', text });
export const code = (text: string): Block => ({ type: 'code', text });
export const button = (text: string, url: string): Block => ({ type: 'button', text, url });
export const link = (text: string, url: string): Block => ({ type: 'link', text, url });
export const quote = (text: string): Block => ({ type: 'quote', text });

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
 * Matches text that email clients turn into a link: addresses of websites and mailboxes, and telephone numbers. Anybody can sign up
 * with a foreign address and choose the name in the emails to it, so such a name is left out.
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

/** A duration in the largest exact unit, rounded down to a minute. */
export function wholeUnits(minutes: number): { amount: number; unit: 'minute' | 'hour' } {
  const whole = Math.max(1, Math.floor(minutes));
  return whole % 60 === 0 ? { amount: whole / 60, unit: 'hour' } : { amount: whole, unit: 'minute' };
}

/**
 * The time in Seoul, on a 12-hour clock. Not with `Intl`, whose output differs between ICU versions: a retry after an
 * upgrade of Node must render the same bytes.
 */
export function timeInSeoul(moment: Date) {
  const seoul = new Date(moment.getTime() + koreanOffset);
  const hours = seoul.getUTCHours();
  return {
    year: seoul.getUTCFullYear(),
    month: seoul.getUTCMonth() + 1,
    day: seoul.getUTCDate(),
    isMorning: hours < 12,
    hour: hours % 12 || 12,
    minute: seoul.getUTCMinutes(),
  };
}
