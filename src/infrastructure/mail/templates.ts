import type { Language } from '../database/generated/enums.ts';
import { english } from './templates/english.ts';
import { renderHtml } from './templates/html.ts';
import { korean } from './templates/korean.ts';
import {
  type Block,
  lines,
  type Mail,
  type MailContent,
  singleLine,
  type Wording,
} from './templates/mail.ts';
import { topicOf } from './unsubscribe-links.ts';

export type { Language } from '../database/generated/enums.ts';
export type { Mail } from './templates/mail.ts';

/** An email ready to be sent, except for its address. */
export interface RenderedMail {
  language: Language;
  subject: string;
  text: string;
  html: string;
}

const wordings: Record<Language, Wording> = { ko: korean, en: english };

/**
 * Renders an email in one language, as text and HTML with the same content. The same input gives the same bytes: Resend
 * rejects another body under the same idempotency key.
 *
 * @param unsubscribeUrl of emails that can be switched off
 */
export function renderMail(mail: Mail, language: Language, unsubscribeUrl?: string): RenderedMail {
  const wording = wordings[language];
  const { blocks, ...content } = contentOf(mail, wording);
  const greeting = 'name' in mail ? [wording.greeting(mail.name)] : [];
  const reason = topicOf(mail.kind) === undefined ? wording.accountReason : wording.partnerReason;
  const whole = { reason, ...content, blocks: [...greeting, ...blocks] };
  return {
    language,
    subject: singleLine(content.subject),
    text: renderText(whole, wording, unsubscribeUrl),
    html: renderHtml(whole, wording, unsubscribeUrl),
  };
}

function contentOf<Kind extends Mail['kind']>(mail: Mail<Kind>, { mails }: Wording): MailContent {
  return mails[mail.kind](mail);
}

/** Renders an email as plain text. Codes and links are on lines of their own, text of another user is prefixed with `>`. */
function renderText(content: Required<MailContent>, wording: Wording, unsubscribeUrl?: string): string {
  const body = [singleLine(content.heading), ...content.blocks.map(blockText)].join('\n\n');
  const unsubscribe = unsubscribeUrl === undefined ? [] : [`${wording.unsubscribe}: ${unsubscribeUrl}`];
  const footer = ['----', singleLine(content.reason), ...unsubscribe, wording.tagline].join('\n');
  return `${body}\n\n${footer}\n`;
}

function blockText(block: Block): string {
  if (typeof block === 'string') return singleLine(block);
  switch (block.type) {
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
