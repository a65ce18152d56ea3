import { isIP } from 'node:net';
import { Type } from '@sinclair/typebox';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, defineError } from '../http/errors.ts';
import type { Language, LocalizedText } from '../http/language.ts';
import { hashSource, sendPage } from '../http/pages.ts';
import { withoutPort } from '../http/request-context.ts';
import { escapeHtml, type RenderedMail } from '../infrastructure/mail/rendering.ts';
import type { OutgoingMail } from '../infrastructure/mail/transport.ts';

const misdirectedRequest = defineError(421, 'misdirected_request', {
  ko: '개발용 화면은 localhost나 IP 주소로만 열 수 있습니다.',
  en: 'Pages for development open at localhost or at an IP address only.',
});

/** For pages of development. @throws {ApiError} for another host name than `localhost`: an attacker's may point here (DNS rebinding) */
export async function requireOwnHost(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('cache-control', 'no-store');
  const { host = '' } = request.headers;
  if (/^localhost(:\d{1,5})?$/i.test(host) || isIP(withoutPort(host)) !== 0) return;
  throw new ApiError(misdirectedRequest);
}

interface StoredMail extends RenderedMail {
  id: number;
  to: string;
  created_at: string;
}

/** Keeps emails in development instead of sending them: in memory only, because they contain codes and links. */
export function createDevMailbox() {
  // By idempotency key, oldest first.
  const mails = new Map<string, StoredMail>();
  let lastId = 0;

  return {
    async send({ to, language, subject, text, html, idempotencyKey }: OutgoingMail): Promise<void> {
      if (mails.has(idempotencyKey)) return;
      const created_at = new Date().toISOString();
      mails.set(idempotencyKey, { id: ++lastId, to, language, subject, text, html, created_at });
      for (const key of mails.keys()) if (mails.size > 200) mails.delete(key);
    },
    /** The newest 200 emails, newest first: to one address, in any case, or to all. */
    list(to?: string): StoredMail[] {
      const newestFirst = [...mails.values()].reverse();
      return to ? newestFirst.filter((mail) => mail.to.toLowerCase() === to.toLowerCase()) : newestFirst;
    },
  };
}

/**
 * `GET /dev/mailbox/`: a page with the emails, or with `Accept: application/json` `{ items: StoredMail[] }`; `?to=` leaves those
 * to one address. Register it outside production only: the emails are enough to take over any account.
 */
export const devMailboxRoutes: FastifyPluginAsync<{
  mailbox: ReturnType<typeof createDevMailbox>;
  from: string;
}> = async (app, { mailbox, from }) => {
  const schema = { hide: true, querystring: Type.Object({ to: Type.Optional(Type.String()) }) };
  app.get<{ Querystring: { to?: string } }>(
    '/dev/mailbox/',
    // The open page polls, so its requests are not logged.
    { schema, logLevel: 'warn', onRequest: requireOwnHost },
    async ({ query, headers, language }, reply) => {
      // A plus sign that is not encoded arrives as a space, which no address has.
      const to = query.to?.trim().replaceAll(' ', '+');
      const mails = mailbox.list(to);
      if (headers.accept?.includes('application/json'))
        return { items: mails.map(({ language: _, ...mail }) => mail) };
      return sendMailboxPage(reply, mails, { language, to, from });
    },
  );
};

const wording = {
  title: { ko: '개발용 메일함', en: 'Dev mailbox' },
  intro: {
    ko: 'RESEND_API_KEY 없이 실행하면 메일을 보내는 대신 최근 메일 200통을 여기에 보여 줍니다. 새 메일은 자동으로 나타나며, 서버를 다시 시작하면 메일함이 비워집니다. 주소에 ?to=owner@example.com을 붙이면 그 주소로 온 메일만 보여 줍니다. JSON은 Accept: application/json으로 요청하세요.',
    en: 'Without RESEND_API_KEY, the newest 200 emails are shown here instead of being sent. New emails appear automatically, and a restart empties the mailbox. With ?to=owner@example.com, only emails to that address are shown. For JSON, send Accept: application/json.',
  },
  empty: { ko: '아직 메일이 없습니다', en: 'No email yet' },
  from: { ko: '보낸 사람', en: 'From' },
  to: { ko: '받는 사람', en: 'To' },
  showAll: { ko: '모든 메일 보기', en: 'Show all emails' },
  html: { ko: 'HTML로 보기', en: 'Show as HTML' },
} satisfies Record<string, LocalizedText>;

const style = `h1{font-size:24px}
h2{display:inline;font-size:18px}
a{color:var(--brand)}
.soft{color:var(--soft);font-size:14px}
article{margin:0 0 12px;padding:4px 16px;background:var(--card);border-radius:14px}
summary{padding:10px 0;cursor:pointer}
summary .soft{display:block}
.highlight{margin:0 0 12px;padding:12px;background:var(--box);border-radius:10px;color:var(--brand)}
.code{font:700 30px/1.2 ui-monospace,monospace;user-select:all}
pre{white-space:pre-wrap;font:inherit}
.html>summary{color:var(--brand)}
iframe{width:100%;height:70vh;min-height:320px;border:0;border-radius:10px;background:#fff;resize:vertical}`;

/** Reloads the page when there is a new email. */
const script = `const { newest } = document.querySelector('main').dataset;
setInterval(async () => {
  const response = await fetch(location.href, { headers: { accept: 'application/json' } }).catch(() => undefined);
  if (!response?.ok) return;
  const { items } = await response.json();
  if ((items[0]?.created_at ?? '') !== newest) location.reload();
}, 3000);`;

/** The templates put codes and links on lines of their own, and prefix the lines that a user wrote. */
function highlights(text: string): string {
  const html = text.split('\n').map((line) => {
    const escaped = escapeHtml(line);
    if (/^\d{6}$/.test(line)) return `<p class="highlight code">${escaped}</p>`;
    if (!/^https?:\/\/\S+$/.test(line)) return '';
    return `<p class="highlight"><a href="${escaped}" target="_blank" rel="noopener noreferrer">${escaped}</a></p>`;
  });
  return html.join('');
}

interface PageOptions {
  language: Language;
  /** The sender of all emails. */
  from: string;
}

// 24 hours: with 12, newer versions of `Intl` write AM and PM in Korean as well.
const timeFormat = { dateStyle: 'long', timeStyle: 'long', hourCycle: 'h23' } as const;

function mailHtml(mail: StoredMail, { language, from, isOpen }: PageOptions & { isOpen: boolean }): string {
  const subject = escapeHtml(mail.subject);
  const time = new Date(mail.created_at).toLocaleString(language, timeFormat);
  return `<article><details${isOpen ? ' open' : ''}>
<summary><h2 lang="${mail.language}">${subject}</h2>
<span class="soft">${wording.from[language]} <strong>${escapeHtml(from)}</strong></span>
<span class="soft">${wording.to[language]} <strong>${escapeHtml(mail.to)}</strong> · <time datetime="${mail.created_at}">${time}</time></span></summary>
${highlights(mail.text)}
<pre lang="${mail.language}">${escapeHtml(mail.text.trimEnd())}</pre>
<details class="html"><summary>${wording.html[language]}</summary><iframe lang="${mail.language}" title="${subject}" loading="lazy" sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="${escapeHtml(mail.html)}"></iframe></details>
</details></article>`;
}

/** Sends the page of the dev mailbox: the newest email open, older ones closed. */
function sendMailboxPage(
  reply: FastifyReply,
  mails: StoredMail[],
  { language, to, from }: PageOptions & { to?: string | undefined },
) {
  const list = mails.map((mail, index) => mailHtml(mail, { language, from, isOpen: index === 0 })).join('\n');
  const filter = to
    ? `<p>${wording.to[language]} <strong>${escapeHtml(to)}</strong> · <a href="/dev/mailbox/">${wording.showAll[language]}</a></p>\n`
    : '';
  return sendPage(reply, {
    language,
    title: `${wording.title[language]} · Dure`,
    style,
    // Emails are styled inline, and their frames inherit this policy.
    styles: "'unsafe-inline'",
    policy: [`script-src ${hashSource(script)}`, "connect-src 'self'; frame-src 'self'; form-action 'none'"],
    body: `<main data-newest="${mails[0]?.created_at ?? ''}">
<h1>${wording.title[language]}</h1>
<p class="soft">${wording.intro[language]}</p>
${filter}${list || `<h2>${wording.empty[language]}</h2>`}
</main>
<script>${script}</script>`,
  });
}
