import { Type } from '@sinclair/typebox';
import type { FastifyPluginAsync } from 'fastify';
import type { LocalizedText } from '../http/language.ts';
import { sendPage } from '../http/pages.ts';
import { readForm } from '../http/plugins/body-reader.ts';
import { escapeHtml } from '../infrastructure/mail/rendering.ts';
import { requireOwnHost } from './mailbox.ts';

interface LoginPageOptions {
  callbackUrl: string;
  frontendOrigin: string;
  issueCode(
    nonce: string,
    user: { subject: string; email?: string; isEmailProved: boolean; name?: string },
  ): string;
}

const wording = {
  title: { ko: '개발용 로그인', en: 'Development login' },
  intro: {
    ko: '카카오나 구글을 대신하는 화면입니다. 개발 중에만 있으며, 원하는 사용자로 로그인해 볼 수 있습니다.',
    en: 'This page takes the place of a provider such as Kakao or Google. It exists in development only; log in as the user you choose.',
  },
  subject: { ko: '사용자 번호', en: 'User id' },
  subjectHint: {
    ko: '같은 번호는 같은 사람입니다. 아무 글자나 쓸 수 있습니다.',
    en: 'The same id is the same person. Any text will do.',
  },
  email: { ko: '이메일 (선택)', en: 'Email (optional)' },
  proved: { ko: '제공자가 이 이메일을 확인했습니다', en: 'The provider has verified this email' },
  name: { ko: '이름 (선택)', en: 'Name (optional)' },
  logIn: { ko: '로그인', en: 'Log in' },
  cancel: { ko: '취소', en: 'Cancel' },
} satisfies Record<string, LocalizedText>;

const style = `body{max-width:480px;padding:24px 16px}
main{padding:24px;background:var(--card);border-radius:14px}
h1{margin:0 0 8px;font-size:22px}
p{margin:0 0 16px}
.soft{color:var(--soft);font-size:14px}
label{display:block;margin:0 0 4px;font-weight:700}
input:not([type]){width:100%;min-height:48px;margin:0 0 16px;padding:0 12px;border:1px solid var(--soft);border-radius:10px;background:var(--page);color:var(--ink);font:inherit}
.check{display:flex;gap:8px;align-items:center;min-height:44px;margin:-8px 0 16px;font-weight:400}
.check input{width:20px;height:20px}
button{width:100%;min-height:48px;margin:0 0 8px;border:1px solid var(--brand);border-radius:10px;background:var(--brand);color:var(--on-brand);font:inherit;font-weight:700;cursor:pointer}
button+button{background:none;color:var(--brand)}
:focus-visible{outline:3px solid var(--ink);outline-offset:2px}`;

/** `GET /dev/login/`: the page of the provider for development; its form sends the browser to the callback. */
export const developmentLoginRoutes: FastifyPluginAsync<LoginPageOptions> = async (app, options) => {
  const { callbackUrl, frontendOrigin, issueCode } = options;
  app.addHook('onRequest', requireOwnHost);
  app.addContentTypeParser('application/x-www-form-urlencoded', readForm);

  app.get<{ Querystring: { state: string; nonce: string } }>(
    '/dev/login/',
    { schema: { hide: true, querystring: Type.Object({ state: Type.String(), nonce: Type.String() }) } },
    async ({ query, language }, reply) => {
      const text = (key: keyof typeof wording) => wording[key][language];
      const hidden = (['state', 'nonce'] as const)
        .map((name) => `<input type="hidden" name="${name}" value="${escapeHtml(query[name])}">`)
        .join('');
      return sendPage(reply, {
        language,
        title: `${text('title')} · Dure`,
        style,
        // Browsers check the redirects of a form, too.
        policy: [`form-action 'self' ${frontendOrigin}`],
        body: `<main>
<h1>${text('title')}</h1>
<p class="soft">${text('intro')}</p>
<form method="post" action="/dev/login/">${hidden}
<label for="subject">${text('subject')}</label>
<input id="subject" name="subject" required maxlength="100" autocomplete="off" aria-describedby="hint">
<p class="soft" id="hint">${text('subjectHint')}</p>
<label for="email">${text('email')}</label>
<input id="email" name="email" inputmode="email" maxlength="254" autocomplete="off">
<label class="check"><input type="checkbox" name="is_email_proved" value="true" checked>${text('proved')}</label>
<label for="name">${text('name')}</label>
<input id="name" name="name" maxlength="50" autocomplete="off">
<button name="action" value="log-in">${text('logIn')}</button>
<button name="action" value="cancel" formnovalidate>${text('cancel')}</button>
</form>
</main>`,
      });
    },
  );

  app.post<{ Body: unknown }>('/dev/login/', { schema: { hide: true } }, async ({ body }, reply) => {
    const form = body instanceof URLSearchParams ? body : new URLSearchParams();
    const read = (name: string) => form.get(name)?.trim() ?? '';
    const answer = new URLSearchParams({ state: read('state') });
    if (read('action') === 'cancel' || read('subject') === '') {
      answer.set('error', 'access_denied');
    } else {
      const [email, name] = [read('email'), read('name')];
      const user = { subject: read('subject'), isEmailProved: read('is_email_proved') === 'true' };
      answer.set(
        'code',
        issueCode(read('nonce'), { ...user, ...(email && { email }), ...(name && { name }) }),
      );
    }
    return reply.redirect(`${callbackUrl}?${answer}`, 303);
  });
};
