import { createHash } from 'node:crypto';
import type { MailTopic } from '../database/generated/enums.ts';
import { icon } from '../http/icon.ts';
import type { Language, LocalizedText } from '../http/language.ts';
import { escapeHtml } from '../mail/templates/html.ts';

/** What the page says. */
export type PageState =
  /** Asks before anything changes. */
  | { kind: 'question'; topic: MailTopic }
  | { kind: 'done'; topic: MailTopic }
  | { kind: 'wrong link' }
  | { kind: 'failure'; text: LocalizedText };

const topicNames: Record<MailTopic, LocalizedText> = {
  partner_request_received: { ko: '새로운 제휴 요청', en: 'new partnership requests' },
  partner_request_answered: { ko: '제휴 요청에 대한 답변', en: 'answers to your partnership requests' },
  partner_request_ended: { ko: '제휴 종료', en: 'partnerships that have ended' },
};

const wording = {
  brand: { ko: '두레', en: 'Dure' },
  question: { ko: '메일을 그만 받으시겠습니까?', en: 'Stop these emails?' },
  stop: { ko: '그만 받기', en: 'Stop these emails' },
  kept: {
    ko: '두레 화면의 알림은 그대로 받으실 수 있습니다.',
    en: 'You will still see the notifications inside Dure.',
  },
  done: { ko: '메일을 보내지 않습니다', en: 'These emails are switched off' },
  again: {
    ko: '다시 받으시려면 두레에 로그인하신 뒤 메일 설정에서 켜 주세요.',
    en: 'To get them again, log in to Dure and switch them on in your mail preferences.',
  },
  wrongLink: { ko: '사용할 수 없는 링크입니다', en: 'This link does not work' },
  wholeLink: {
    ko: '링크가 잘렸을 수 있습니다. 메일에 있는 링크를 다시 눌러 주세요.',
    en: 'It may have been cut off. Please open the link in the email again.',
  },
  failure: { ko: '처리하지 못했습니다', en: 'That did not work' },
} satisfies Record<string, LocalizedText>;

const style = `:root{color-scheme:light dark;--page:#f3f6f4;--card:#fff;--ink:#1d2a23;--soft:#55635b;--brand:#1f6f4a;--on-brand:#fff}
@media (prefers-color-scheme:dark){:root{--page:#131a16;--card:#1c2620;--ink:#eef3ef;--soft:#b3c2b9;--brand:#8fdab2;--on-brand:#131a16}}
*{box-sizing:border-box}
body{max-width:560px;margin:0 auto;padding:24px 16px;background:var(--page);color:var(--ink);font:16px/1.6 system-ui,sans-serif;word-break:keep-all;overflow-wrap:anywhere}
main{padding:24px;background:var(--card);border-radius:14px}
h1{margin:0 0 12px;font-size:22px;line-height:1.4}
p{margin:0 0 16px}
.brand{margin:0 0 12px;color:var(--brand);font-weight:800}
.soft{margin:0;color:var(--soft);font-size:14px}
button{width:100%;min-height:48px;margin:0 0 16px;border:0;border-radius:10px;background:var(--brand);color:var(--on-brand);font:inherit;font-weight:700;cursor:pointer}
button:focus-visible{outline:3px solid var(--ink);outline-offset:2px}`;

/** No script, nothing from elsewhere, and the form goes to the service only. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  // For the icon.
  'img-src data:',
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const iconUrl = `data:image/svg+xml,${encodeURIComponent(icon)}`;

/** What the page says first, and the HTML below it. */
function contentOf(state: PageState, language: Language): { heading: string; html: string } {
  const text = (name: keyof typeof wording) => escapeHtml(wording[name][language]);
  switch (state.kind) {
    case 'question':
      return {
        heading: wording.question[language],
        html: `<p>${topicSentence(state.topic, language)}</p>
<form method="post"><button>${text('stop')}</button></form>
<p class="soft">${text('kept')}</p>`,
      };
    case 'done':
      return {
        heading: wording.done[language],
        html: `<p>${topicSentence(state.topic, language)}</p>
<p class="soft">${text('again')} ${text('kept')}</p>`,
      };
    case 'wrong link':
      return { heading: wording.wrongLink[language], html: `<p>${text('wholeLink')}</p>` };
    case 'failure':
      return { heading: wording.failure[language], html: `<p>${escapeHtml(state.text[language])}</p>` };
  }
}

function topicSentence(topic: MailTopic, language: Language): string {
  const name = escapeHtml(topicNames[topic][language]);
  return language === 'ko' ? `메일 종류: <strong>${name}</strong>` : `Emails about <strong>${name}</strong>`;
}

/** Renders the page of the unsubscribe link. The form has no address, so it is sent to that of the page, with its token. */
export function renderUnsubscribePage(state: PageState, language: Language): string {
  const { heading, html } = contentOf(state, language);
  const title = escapeHtml(heading);
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="${iconUrl}">
<title>${title} · ${wording.brand[language]}</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="brand">${wording.brand[language]}</p>
<h1>${title}</h1>
${html}
</main>
</body>
</html>
`;
}
