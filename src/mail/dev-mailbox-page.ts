import type { Language, Text } from '../http/language.ts';
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
    ko: '실제로 보내지 않은 메일이 여기에 모여요. 새 메일은 자동으로 나타나요.',
    en: 'Mails that were not really sent end up here. New ones appear by themselves.',
  },
  offline: {
    ko: '서버에 연결할 수 없어요. 다시 연결하는 중이에요.',
    en: 'The server does not answer. Trying again.',
  },
  arrived: { ko: '새 메일이 왔어요.', en: 'New mail.' },
  emptyTitle: { ko: '아직 메일이 없어요', en: 'No mail yet' },
  empty: {
    ko: 'RESEND_API_KEY 없이 실행하면 서비스는 메일을 보내는 대신 이 페이지에 보여 줘요. 회원가입, 비밀번호 재설정, 아이디 찾기나 제휴 요청을 해 보면 인증번호와 링크를 여기에서 확인할 수 있어요.',
    en: 'Without RESEND_API_KEY the service shows its mails here instead of sending them. Sign up, reset a password, look up a user ID or request a partnership, and find the code or the link here.',
  },
  memory: {
    ko: '최근 200통만 메모리에 보관하고, 서버를 다시 시작하면 비워져요. JSON은 Accept: application/json으로 요청하세요.',
    en: 'The newest 200 are kept in memory and are gone after a restart. Ask with Accept: application/json for JSON.',
  },
  to: { ko: '받는 사람', en: 'To' },
  code: { ko: '인증번호', en: 'Code' },
  link: { ko: '링크', en: 'Link' },
  copy: { ko: '복사', en: 'Copy' },
  copied: { ko: '복사했어요', en: 'Copied' },
  html: { ko: 'HTML 버전 보기', en: 'Show the HTML version' },
} satisfies Record<string, Text>;

const style = `:root{color-scheme:light dark;--page:#f3f6f4;--card:#fff;--ink:#1d2a23;--soft:#55635b;--line:#d5e0d9;--box:#eef5f0;--brand:#1f6f4a}
@media (prefers-color-scheme:dark){:root{--page:#131a16;--card:#1c2620;--ink:#eef3ef;--soft:#b3c2b9;--line:#36453c;--box:#26332b;--brand:#8fdab2}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.6 -apple-system,BlinkMacSystemFont,'Apple SD Gothic Neo','Noto Sans KR','Malgun Gothic','Segoe UI',Roboto,sans-serif;word-break:keep-all;overflow-wrap:anywhere}
header,main,footer{max-width:720px;margin:0 auto;padding:0 16px}
header{padding-top:24px}
h1{margin:0;font-size:24px;line-height:1.3}
header p,footer p,.meta,.label{color:var(--soft);font-size:14px}
header p{margin:4px 0 16px}
footer p{margin:0 0 32px}
[role=status]{position:fixed;z-index:1;inset:auto 16px 16px;max-width:688px;margin:0 auto;padding:10px 16px;border-radius:10px;background:var(--ink);color:var(--page)}
[role=status]:empty{opacity:0;pointer-events:none}
.empty p{margin:0}
time{display:block}
article,.empty{margin:0 0 16px;padding:18px 16px;background:var(--card);border:1px solid var(--line);border-radius:14px}
article.new{border-color:var(--brand);box-shadow:0 0 0 1px var(--brand)}
h2{margin:0 0 4px;font-size:18px;line-height:1.4}
.meta{margin:0 0 14px}
.row{display:flex;flex-wrap:wrap;align-items:center;gap:8px 12px;margin:0 0 12px;padding:12px;background:var(--box);border-radius:10px}
.row .label{flex:0 0 100%;line-height:1}
.value{flex:1 1 160px;min-width:0;-webkit-user-select:all;user-select:all}
.code{font:700 30px/1.2 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.06em}
.link{font-size:14px;line-height:1.5;word-break:break-all}
a{color:var(--brand)}
button{min-height:44px;min-width:88px;padding:0 16px;border:1px solid var(--brand);border-radius:10px;background:transparent;color:var(--brand);font:inherit;font-weight:600;cursor:pointer}
:focus-visible{outline:3px solid var(--brand);outline-offset:2px}
pre{margin:0;white-space:pre-wrap;font:inherit;font-size:15px}
summary{margin-top:14px;padding:10px 0;color:var(--brand);cursor:pointer}
iframe{display:block;width:100%;height:560px;border:1px solid var(--line);border-radius:10px;background:#fff;resize:vertical}`;

/**
 * Copies, shows times in the reader's zone, and fetches the page again to add what is new. Mails already shown are left
 * alone, so that neither a selection nor an open frame is lost.
 */
const script = `const main = document.querySelector('main'), status = document.querySelector('[role=status]'), words = document.body.dataset;
const show = (root) => root.querySelectorAll('time').forEach((time) => {
  time.textContent = new Date(time.dateTime).toLocaleString(document.documentElement.lang, { dateStyle: 'medium', timeStyle: 'medium' });
});
const copy = async (button) => {
  const value = button.parentElement.querySelector('.value');
  getSelection().selectAllChildren(value);
  try { await navigator.clipboard.writeText(value.textContent); } catch { document.execCommand('copy'); }
  const label = button.textContent;
  if (label === words.copied) return;
  button.textContent = words.copied;
  setTimeout(() => { button.textContent = label; }, 1500);
};
main.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (button) copy(button);
});
let version = words.version, busy = false;
const refresh = async () => {
  if (document.hidden || busy) return;
  busy = true;
  try {
    const answer = await fetch(location.pathname, { headers: { accept: 'text/html', 'if-none-match': version } });
    if (answer.status === 304) { if (status.textContent === words.offline) status.textContent = ''; return; }
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const incoming = [...page.querySelector('main').children];
    const kept = new Set(incoming.map((item) => item.id));
    for (const item of [...main.children]) if (!kept.has(item.id)) item.remove();
    const fresh = incoming.filter((item) => !document.getElementById(item.id)).map((item) => document.importNode(item, true));
    for (const item of fresh) { show(item); item.classList.add('new'); }
    main.prepend(...fresh);
    version = page.body.dataset.version;
    status.textContent = fresh.length > 0 ? words.arrived : '';
    setTimeout(() => {
      for (const item of fresh) item.classList.remove('new');
      if (status.textContent === words.arrived) status.textContent = '';
    }, 4000);
  } catch { status.textContent = words.offline; } finally { busy = false; }
};
show(document);
setInterval(refresh, 3000);
document.addEventListener('visibilitychange', refresh);`;

/** The templates put codes and links on lines of their own, and mark the lines that a user wrote. */
function linesLike(text: string, pattern: RegExp): string[] {
  return text.split('\n').filter((line) => pattern.test(line));
}

function copyRow(label: string, valueHtml: string, language: Language): string {
  return `<div class="row"><span class="label">${label}</span>${valueHtml}<button type="button" aria-label="${label} ${wording.copy[language]}">${wording.copy[language]}</button></div>`;
}

function mailHtml(mail: StoredMail, language: Language, instance: string): string {
  const codes = linesLike(mail.text, /^\d{6}$/).map((code) =>
    copyRow(wording.code[language], `<span class="value code">${code}</span>`, language),
  );
  const links = linesLike(mail.text, /^https?:\/\/\S+$/).map((line) => {
    const address = escapeHtml(line);
    return copyRow(
      wording.link[language],
      `<a class="value link" href="${address}" target="_blank" rel="noopener noreferrer">${address}</a>`,
      language,
    );
  });
  const subject = escapeHtml(mail.subject);
  // no scripts, no forms, no access to this page; popups only so that a link of the mail can be tried
  return `<article id="mail-${instance}-${mail.id}">
<h2>${subject}</h2>
<p class="meta">${wording.to[language]} <strong>${escapeHtml(mail.to)}</strong> <time datetime="${escapeHtml(mail.created_at)}">${escapeHtml(mail.created_at)}</time></p>
${[...codes, ...links].join('\n')}
<pre>${escapeHtml(mail.text.trimEnd())}</pre>
<details><summary>${wording.html[language]}</summary><iframe title="${subject}" loading="lazy" sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="${escapeHtml(mail.html)}"></iframe></details>
</article>`;
}

/** The page that shows the mails, newest first. It works without its script, but for copying and updating. */
export function renderMailboxPage(page: {
  mails: StoredMail[];
  language: Language;
  nonce: string;
  /** Changes with the list; the script sends it back as `If-None-Match`. */
  version: string;
  /** Tells the mails of this process from those of the one before a restart. */
  instance: string;
}): string {
  const { mails, language, nonce, version, instance } = page;
  const empty = `<section class="empty" id="empty"><h2>${wording.emptyTitle[language]}</h2><p>${wording.empty[language]}</p></section>`;
  const list =
    mails.length === 0 ? empty : mails.map((mail) => mailHtml(mail, language, instance)).join('\n');
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<title>${wording.title[language]} · Dure</title>
<style>${style}</style>
</head>
<body data-version="${escapeHtml(version)}" data-copied="${wording.copied[language]}" data-offline="${wording.offline[language]}" data-arrived="${wording.arrived[language]}">
<header><h1>${wording.title[language]}</h1><p>${wording.intro[language]}</p></header>
<p role="status"></p>
<main>
${list}
</main>
<footer><p>${wording.memory[language]}</p></footer>
<script nonce="${nonce}">
${script}
</script>
</body>
</html>
`;
}
