import { createHash } from 'node:crypto';
import type { Language, LocalizedText } from '../http/language.ts';
import { escapeHtml } from './templates/html.ts';

/** A mail in the dev mailbox. */
export interface StoredMail {
  id: number;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** ISO 8601, UTC. */
  created_at: string;
}

const wording = {
  title: { ko: '개발용 메일함', en: 'Dev mailbox' },
  intro: {
    ko: 'RESEND_API_KEY 없이 실행하면 메일을 보내는 대신 최근 메일 200통을 여기에 보여 줍니다. 새 메일은 자동으로 나타나며, 서버를 다시 시작하면 메일함이 비워집니다. JSON은 Accept: application/json으로 요청하세요.',
    en: 'Without RESEND_API_KEY, the newest 200 mails are shown here instead of being sent. New mails appear automatically, and a restart empties the mailbox. For JSON, send Accept: application/json.',
  },
  empty: { ko: '아직 메일이 없습니다', en: 'No mail yet' },
  to: { ko: '받는 사람', en: 'To' },
  html: { ko: 'HTML로 보기', en: 'Show as HTML' },
} satisfies Record<string, LocalizedText>;

const style = `:root{color-scheme:light dark;--page:#f3f6f4;--card:#fff;--ink:#1d2a23;--soft:#55635b;--box:#eef5f0;--brand:#1f6f4a}
@media (prefers-color-scheme:dark){:root{--page:#131a16;--card:#1c2620;--ink:#eef3ef;--soft:#b3c2b9;--box:#26332b;--brand:#8fdab2}}
body{max-width:720px;margin:0 auto;padding:16px;background:var(--page);color:var(--ink);font:16px/1.6 system-ui,sans-serif;word-break:keep-all;overflow-wrap:anywhere}
h1{font-size:24px}
h2{margin:0;font-size:18px}
.soft{color:var(--soft);font-size:14px}
article{margin:0 0 16px;padding:16px;background:var(--card);border-radius:14px}
.highlight{display:block;margin:0 0 12px;padding:12px;background:var(--box);border-radius:10px;color:var(--brand)}
.code{font:700 30px/1.2 ui-monospace,monospace;user-select:all}
pre{white-space:pre-wrap;font:inherit}
summary{padding:10px 0;color:var(--brand);cursor:pointer}
iframe{width:100%;height:560px;border:0;border-radius:10px;background:#fff}`;

/** Reloads the page only when there is a new mail, so that a selection or an open frame is not lost. */
const script = `setInterval(async () => {
  const response = await fetch(location.href, { headers: { accept: 'application/json' } });
  const { items } = await response.json();
  if ((items[0]?.created_at ?? '') !== document.body.dataset.newest) location.reload();
}, 3000);`;

/** Only the script of the page may run. Mails are styled inline, and their frames inherit this policy. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The templates put codes and links on lines of their own, and prefix the lines that a user wrote. */
function highlights(text: string): string {
  const html = text.split('\n').map((line) => {
    const escaped = escapeHtml(line);
    if (/^\d{6}$/.test(line)) return `<span class="highlight code">${escaped}</span>`;
    if (!/^https?:\/\/\S+$/.test(line)) return '';
    return `<a class="highlight" href="${escaped}" target="_blank" rel="noopener noreferrer">${escaped}</a>`;
  });
  return html.join('');
}

// 24 hours: with 12, newer versions of `Intl` write AM and PM in Korean as well.
const timeFormat = { dateStyle: 'long', timeStyle: 'medium', hourCycle: 'h23' } as const;

function mailHtml(mail: StoredMail, language: Language): string {
  const subject = escapeHtml(mail.subject);
  const time = new Date(mail.created_at).toLocaleString(language, timeFormat);
  return `<article>
<h2>${subject}</h2>
<p class="soft">${wording.to[language]} <strong>${escapeHtml(mail.to)}</strong> · ${escapeHtml(time)}</p>
${highlights(mail.text)}
<pre>${escapeHtml(mail.text.trimEnd())}</pre>
<details><summary>${wording.html[language]}</summary><iframe title="${subject}" loading="lazy" sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="${escapeHtml(mail.html)}"></iframe></details>
</article>`;
}

/** Renders the page of the dev mailbox. */
export function renderMailboxPage(mails: StoredMail[], language: Language): string {
  const list = mails.map((mail) => mailHtml(mail, language)).join('\n');
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${wording.title[language]} · Dure</title>
<style>${style}</style>
</head>
<body data-newest="${escapeHtml(mails[0]?.created_at ?? '')}">
<h1>${wording.title[language]}</h1>
<p class="soft">${wording.intro[language]}</p>
${list || `<h2>${wording.empty[language]}</h2>`}
<script>${script}</script>
</body>
</html>
`;
}
