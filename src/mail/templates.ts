import type { Language } from '../http/language.ts';
import { englishContent } from './templates/english.ts';
import { type FrameWording, renderHtml } from './templates/html.ts';
import { koreanContent } from './templates/korean.ts';
import type { Mail, MailContent } from './templates/mail.ts';
import { renderText, singleLine } from './templates/plain-text.ts';

export type { Language } from '../http/language.ts';
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
    linkFallback: '버튼이 눌리지 않으면 아래 주소를 브라우저에 붙여 넣어 주세요.',
  },
  en: {
    language: 'en',
    brand: 'Dure',
    tagline: 'Dure · Partnerships between neighbourhood shops',
    linkFallback: 'If the button does not work, paste this address into your browser.',
  },
};

/**
 * Renders a mail in one language, as text and HTML with the same content. The same input gives the same bytes: Resend
 * refuses another body under the same idempotency key.
 */
export function renderMail(mail: Mail, language: Language): RenderedMail {
  const content = contents[language](mail);
  const frame = frames[language];
  return {
    language,
    subject: singleLine(content.subject),
    text: renderText(content, frame.tagline),
    html: renderHtml(content, frame),
  };
}
