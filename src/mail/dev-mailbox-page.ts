import { icon } from '../http/icon.ts';
import type { Language, LocalizedText } from '../http/language.ts';
import { script, style } from './dev-mailbox-assets.ts';
import { escapeHtml } from './templates/html.ts';

/** A mail in the dev mailbox. */
export interface StoredMail {
  id: number;
  to: string;
  /** The language that the mail is written in. */
  language: Language;
  subject: string;
  text: string;
  html: string;
  /** ISO 8601, UTC. */
  created_at: string;
}

const wording = {
  title: { ko: '개발용 메일함', en: 'Dev mailbox' },
  intro: {
    ko: 'RESEND_API_KEY 없이 실행하면 메일을 보내는 대신 최근 메일 200통을 여기에 보여 줍니다. 새 메일은 자동으로 나타나며, 서버를 다시 시작하면 메일함이 비워집니다. 주소에 ?to=owner@example.com을 붙이면 그 주소로 온 메일만 보여 줍니다. JSON은 Accept: application/json으로 요청하세요.',
    en: 'Without RESEND_API_KEY, the newest 200 mails are shown here instead of being sent. New mails appear automatically, and a restart empties the mailbox. With ?to=owner@example.com, only mails to that address are shown. For JSON, send Accept: application/json.',
  },
  empty: { ko: '아직 메일이 없습니다', en: 'No mail yet' },
  to: { ko: '받는 사람', en: 'To' },
  showAll: { ko: '모든 메일 보기', en: 'Show all mails' },
  html: { ko: 'HTML로 보기', en: 'Show as HTML' },
  copyCode: { ko: '번호 복사', en: 'Copy code' },
  copyLink: { ko: '링크 복사', en: 'Copy link' },
  copied: { ko: '복사했습니다', en: 'Copied' },
  notCopied: {
    ko: '복사하지 못했습니다. 직접 선택해 복사해 주세요',
    en: 'Not copied. Please select the text and copy it',
  },
} satisfies Record<string, LocalizedText>;

const iconUrl = `data:image/svg+xml,${encodeURIComponent(icon)}`;

/** The templates put codes and links on lines of their own, and prefix the lines that a user wrote. */
function highlights(text: string, language: Language): string {
  const html = text.split('\n').map((line) => {
    const escaped = escapeHtml(line);
    if (/^\d{6}$/.test(line)) {
      return copyable(`<span class="code">${escaped}</span>`, wording.copyCode[language]);
    }
    if (!/^https?:\/\/\S+$/.test(line)) return '';
    const link = `<a href="${escaped}" target="_blank" rel="noopener noreferrer">${escaped}</a>`;
    return copyable(link, wording.copyLink[language]);
  });
  return html.join('');
}

function copyable(html: string, label: string): string {
  return `<div class="highlight">${html}<button type="button">${label}</button></div>`;
}

// 24 hours: with 12, newer versions of `Intl` write AM and PM in Korean as well.
const timeFormat = { dateStyle: 'long', timeStyle: 'medium', hourCycle: 'h23' } as const;
const zoneFormat = new Intl.DateTimeFormat('en', { timeZoneName: 'short' });

/** The time with its zone, which is that of the service. */
function timeHtml(iso: string, language: Language): string {
  const time = new Date(iso);
  const zone = zoneFormat.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `<time datetime="${iso}">${escapeHtml(`${time.toLocaleString(language, timeFormat)} ${zone}`)}</time>`;
}

function mailHtml(mail: StoredMail, language: Language, isOpen: boolean): string {
  const subject = escapeHtml(mail.subject);
  return `<article><details${isOpen ? ' open' : ''}>
<summary><h2 lang="${mail.language}">${subject}</h2>
<span class="soft">${wording.to[language]} <strong>${escapeHtml(mail.to)}</strong> · ${timeHtml(mail.created_at, language)}</span></summary>
${highlights(mail.text, language)}
<pre lang="${mail.language}">${escapeHtml(mail.text.trimEnd())}</pre>
<details class="html"><summary>${wording.html[language]}</summary><iframe lang="${mail.language}" title="${subject}" loading="lazy" sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="${escapeHtml(mail.html)}"></iframe></details>
</details></article>`;
}

/**
 * Renders the page of the dev mailbox: the newest mail open, older ones folded.
 *
 * @param to the address that the mails are filtered by
 */
export function renderMailboxPage(mails: StoredMail[], language: Language, to?: string): string {
  const list = mails.map((mail, index) => mailHtml(mail, language, index === 0)).join('\n');
  const filter = to
    ? `<p>${wording.to[language]} <strong>${escapeHtml(to)}</strong> · <a href="/dev/mailbox/">${wording.showAll[language]}</a></p>\n`
    : '';
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="${iconUrl}">
<title>${wording.title[language]} · Dure</title>
<style>${style}</style>
</head>
<body data-newest="${escapeHtml(mails[0]?.created_at ?? '')}" data-copied="${wording.copied[language]}" data-not-copied="${wording.notCopied[language]}">
<main>
<h1>${wording.title[language]}</h1>
<p class="soft">${wording.intro[language]}</p>
${filter}${list || `<h2>${wording.empty[language]}</h2>`}
</main>
<p id="status" role="status"></p>
<script>${script}</script>
</body>
</html>
`;
}
