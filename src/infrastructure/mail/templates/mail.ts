/** Every mail of the service, with all that its text depends on. */
export type Mail =
  | { kind: 'verification_code'; code: string; url: string; minutes: number }
  | { kind: 'account_exists'; username: string; loginUrl: string; resetUrl: string }
  | { kind: 'reset_link'; name: string; url: string; minutes: number }
  | { kind: 'password_changed'; name: string; changedAt: Date }
  | {
      kind: 'email_changed';
      name: string;
      /** Masked. */
      newEmail: string;
      changedAt: Date;
      /** Undoes the change. */
      url: string;
    }
  | { kind: 'user_id'; name: string; username: string }
  | {
      kind: 'partner_request_received';
      name: string;
      senderStoreName: string;
      postTitle: string;
      message: string;
      url: string;
    }
  | {
      kind: 'partner_request_accepted' | 'partner_request_declined';
      name: string;
      receiverStoreName: string;
      postTitle: string;
      url: string;
    }
  | {
      kind: 'partner_request_ended';
      name: string;
      /** The store that ended the partnership. */
      otherStoreName: string;
      postTitle: string;
      url: string;
    };

/** One part of a mail. Both text and HTML are rendered from it. */
export type Block =
  | { type: 'paragraph'; text: string }
  /** Less important than a paragraph, and smaller. */
  | { type: 'note'; text: string }
  /** What to copy: a code or a user id. */
  | { type: 'code'; value: string }
  /** The main action. */
  | { type: 'button'; label: string; url: string }
  /** A second action, less prominent than the button. */
  | { type: 'link'; label: string; url: string }
  /** Text that another user wrote. The only block that keeps its line feeds. */
  | { type: 'quote'; text: string };

/** The texts around the content of a mail. */
export interface FrameWording {
  language: string;
  brand: string;
  tagline: string;
  /** The link that switches such mails off. */
  unsubscribe: string;
  /** Shown above the URL under a button. */
  linkFallback: string;
}

/** The content of a mail in one language, before it is rendered as text and HTML. */
export interface MailContent {
  subject: string;
  /** Shown by mail clients beside the subject. */
  preheader: string;
  heading: string;
  blocks: Block[];
  /** Why the recipient got this mail. */
  reason: string;
}

export const paragraph = (text: string): Block => ({ type: 'paragraph', text });
export const note = (text: string): Block => ({ type: 'note', text });
export const code = (value: string): Block => ({ type: 'code', value });
export const button = (label: string, url: string): Block => ({ type: 'button', label, url });
export const link = (label: string, url: string): Block => ({ type: 'link', label, url });
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

function blockText(block: Block): string {
  switch (block.type) {
    case 'paragraph':
    case 'note':
      return singleLine(block.text);
    case 'code':
      return singleLine(block.value);
    case 'button':
    case 'link':
      return `${singleLine(block.label)}:\n${block.url}`;
    case 'quote':
      return lines(block.text)
        .map((line) => `> ${line}`.trimEnd())
        .join('\n');
  }
}

/** Renders a mail as plain text. Codes and links are on lines of their own, text of another user is prefixed with `>`. */
export function renderText(content: MailContent, wording: FrameWording, unsubscribeUrl?: string): string {
  const body = [singleLine(content.heading), ...content.blocks.map(blockText)].join('\n\n');
  const unsubscribe = unsubscribeUrl === undefined ? [] : [`${wording.unsubscribe}: ${unsubscribeUrl}`];
  const footer = ['----', singleLine(content.reason), ...unsubscribe, wording.tagline].join('\n');
  return `${body}\n\n${footer}\n`;
}
