import t from 'tap';
import { type Mail, renderMail } from '../../src/infrastructure/mail/templates.ts';
import { code, languages, mails, requestUrl, resetUrl, undoUrl, verifyUrl } from './samples.ts';

/** What a mail must contain, in every language. */
const expectedParts: Record<Mail['kind'], string[]> = {
  verification_code: [code, verifyUrl],
  account_exists: ['minji.kim', 'https://dure.example/login', 'https://dure.example/forgot?a=1&b=2'],
  reset_link: ['김민지', resetUrl],
  password_changed: ['김민지', '2026'],
  email_changed: ['김민지', '2026', 'm***@e***.com', undoUrl],
  user_id: ['김민지', 'minji.kim'],
  partner_request_received: ['김민지', '달빛 카페', '원두 나눔', '같이 해요 & 나눠요.', requestUrl],
  partner_request_accepted: ['김민지', '해님 빵집', '빵 나눔', requestUrl],
  partner_request_declined: ['김민지', '해님 빵집', '빵 나눔', requestUrl],
  partner_request_ended: ['김민지', '해님 빵집', '빵 나눔', requestUrl],
};

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The visible text and the link targets of an HTML mail. */
function visible(html: string): string {
  return html
    .replace(/^[\s\S]*<body[^>]*>/, '')
    .replace(/<div style="display:none[\s\S]*?<\/div>/, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<a [^>]*href="([^"]*)"[^>]*>/g, '\n$1\n')
    .replace(/<\/?span[^>]*>/g, '')
    .replace(/<[^>]+>/g, '\n')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

for (const language of languages) {
  t.test(`in ${language}`, async (t) => {
    for (const mail of Object.values(mails)) {
      t.test(mail.kind, async (t) => {
        const { subject, text, html } = renderMail(mail, language);
        for (const part of expectedParts[mail.kind]) {
          t.ok(text.includes(part), `the text contains ${part}`);
          t.ok(html.includes(escaped(part)), `the HTML contains ${part}`);
        }
        t.match(subject, language === 'ko' ? /^\[두레\] .*[가-힣]$/ : /^[^[]*[a-zA-Z]$/);
        t.ok(html.includes(`<html lang="${language}">`));
        t.ok(html.includes(`<title>${escaped(subject)}</title>`));
        t.equal(
          /[가-힣]/.test(text.split('\n')[0] ?? ''),
          language === 'ko',
          'the heading is in the language',
        );
        t.notMatch(text + html, /undefined|NaN|\[object/);
      });

      t.test(`${mail.kind}: text and HTML have the same content`, async (t) => {
        const { text, html } = renderMail(mail, language);
        const content = visible(html);
        for (const line of text.split('\n')) {
          const part = line.replace(/^(> |----$)/, '').replace(/:$/, '');
          t.ok(content.includes(part), `the HTML contains: ${part}`);
        }
      });

      t.test(`${mail.kind}: loads nothing and runs nothing`, async (t) => {
        const { html } = renderMail(mail, language);
        t.notMatch(html, /<(img|script|link|iframe|form|object)\b|url\(|@import|javascript:|\bon[a-z]+=/i);
        t.ok(html.length < 20_000, 'far below the size at which Gmail cuts a mail');
      });

      t.test(`${mail.kind}: the same input gives the same bytes`, async (t) => {
        t.same(renderMail(structuredClone(mail), language), renderMail(mail, language));
      });
    }
  });
}

t.test(
  'a code is one word near the top, the only six digits of the mail, and not in the subject',
  async (t) => {
    for (const language of languages) {
      const { subject, text, html } = renderMail(mails.verification_code, language);
      const lines = text.split('\n');
      t.ok(lines.indexOf(code) >= 0 && lines.indexOf(code) <= 4);
      t.same(text.match(/\d{6}/g), [code]);
      t.same(new Set(html.match(/\d{6}/g)), new Set([code]), 'no colour or size looks like a code');
      t.notMatch(subject, /\d/);
    }
  },
);

t.test('links are on lines of their own', async (t) => {
  for (const language of languages) {
    t.same(renderMail(mails.reset_link, language).text.match(/^https?:.*$/gm), [resetUrl]);
    t.same(renderMail(mails.account_exists, language).text.match(/^https?:.*$/gm), [
      'https://dure.example/login',
      'https://dure.example/forgot?a=1&b=2',
    ]);
  }
});

t.test('nothing that users write becomes markup', async (t) => {
  const nasty = `<script>alert("x")</script><b a='1'>&amp;`;
  const rendered: Mail[] = [
    { ...mails.verification_code, code: nasty },
    {
      kind: 'account_exists',
      username: nasty,
      loginUrl: `https://a/?${nasty}`,
      resetUrl: `https://b/?${nasty}`,
    },
    { kind: 'reset_link', name: nasty, url: `https://a/?${nasty}`, minutes: 60 },
    { kind: 'password_changed', name: nasty, changedAt: new Date(0) },
    {
      kind: 'email_changed',
      name: nasty,
      newEmail: nasty,
      changedAt: new Date(0),
      url: `https://a/?${nasty}`,
    },
    { kind: 'user_id', name: nasty, username: nasty },
    {
      kind: 'partner_request_received',
      name: nasty,
      storeName: nasty,
      postTitle: nasty,
      message: nasty,
      url: `https://a/?${nasty}`,
    },
    { kind: 'partner_request_accepted', name: nasty, storeName: nasty, postTitle: nasty, url: nasty },
    { kind: 'partner_request_declined', name: nasty, storeName: nasty, postTitle: nasty, url: nasty },
    { kind: 'partner_request_ended', name: nasty, storeName: nasty, postTitle: nasty, url: nasty },
  ];
  t.equal(rendered.length, Object.keys(mails).length);
  for (const mail of rendered) {
    for (const language of languages) {
      const { html } = renderMail(mail, language, `https://u/?${nasty}`);
      t.notMatch(html, /<script|<b |alert\("/, mail.kind);
      t.ok(html.includes(escaped(nasty)), mail.kind);
    }
  }
});

t.test('a subject never contains a line break or a control character', async (t) => {
  const name = '카페\r\nBcc: victim@example.com\u0000\u2028\u0085끝\u202e';
  const url = requestUrl;
  const rendered: Mail[] = [
    { kind: 'partner_request_received', name, storeName: name, postTitle: name, message: 'm', url },
    { kind: 'partner_request_accepted', name, storeName: name, postTitle: name, url },
    { kind: 'partner_request_declined', name, storeName: name, postTitle: name, url },
    { kind: 'partner_request_ended', name, storeName: name, postTitle: name, url },
  ];
  for (const mail of rendered) {
    for (const language of languages) {
      const { subject, text } = renderMail(mail, language);
      t.notMatch(subject, /[\p{Cc}\u2028\u2029\u202e]/u);
      t.ok(subject.includes('카페 Bcc: victim@example.com 끝'), subject);
      t.notMatch(text, /^Bcc:/m, 'nor does a name start a line of the text');
    }
  }
});

t.test('the message of a user keeps its lines and is marked as a quote', async (t) => {
  const message = '첫 줄\r\n\r\n<둘째> 줄\n654321\nhttps://evil.example/';
  for (const language of languages) {
    const { text, html } = renderMail({ ...mails.partner_request_received, message }, language);
    t.ok(text.includes('> 첫 줄\n>\n> <둘째> 줄\n> 654321\n> https://evil.example/\n'));
    t.ok(html.includes('첫 줄<br><br>&lt;둘째&gt; 줄<br>654321<br>https://evil.example/</blockquote>'));
  }
});
