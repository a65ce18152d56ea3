import type { Language } from '../database/generated/enums.ts';
import { englishContent } from './templates/english.ts';
import { renderHtml } from './templates/html.ts';
import { koreanContent } from './templates/korean.ts';
import { type FrameWording, type Mail, type MailContent, renderText, singleLine } from './templates/mail.ts';

export type { Language } from '../database/generated/enums.ts';
export type { Mail } from './templates/mail.ts';

/** A mail ready to be sent, except for its address. */
export interface RenderedMail {
  language: Language;
  subject: string;
  text: string;
  html: string;
}

const contents: Record<Language, (mail: Mail) => MailContent> = { ko: koreanContent, en: englishContent };

const frames: Record<Language, FrameWording> = {
  ko: {
    language: 'ko',
    brand: '두레',
    tagline: '두레 · 동네 가게들의 제휴를 이어 드립니다',
    unsubscribe: '이 종류의 메일 그만 받기',
    linkFallback: '버튼이 눌리지 않으면 아래 주소를 브라우저에 붙여 넣어 주세요.',
  },
  en: {
    language: 'en',
    brand: 'Dure',
    tagline: 'Dure · Partnerships between neighbourhood shops',
    unsubscribe: 'Stop emails of this kind',
    linkFallback: 'If the button does not work, paste this address into your browser.',
  },
};

/**
 * Renders a mail in one language, as text and HTML with the same content. The same input gives the same bytes: Resend
 * rejects another body under the same idempotency key.
 *
 * @param unsubscribeUrl of mails that can be switched off
 */
export function renderMail(mail: Mail, language: Language, unsubscribeUrl?: string): RenderedMail {
  const content = contents[language](mail);
  const frame = frames[language];
  return {
    language,
    subject: singleLine(content.subject),
    text: renderText(content, frame, unsubscribeUrl),
    html: renderHtml(content, frame, unsubscribeUrl),
  };
}
