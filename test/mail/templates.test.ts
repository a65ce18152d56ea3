import t from 'tap';
import { type Language, type Mail, renderMail } from '../../src/mail/templates.ts';

const code = '048213';
const resetUrl = 'https://dure.example/reset-password?uid=7&token=aB_-9';
const requestUrl = 'https://dure.example/requests?box=received&id=3';
const languages: Language[] = ['ko', 'en'];

const mails: Record<Mail['kind'], Mail> = {
  verification_code: { kind: 'verification_code', code, minutes: 10 },
  account_exists: {
    kind: 'account_exists',
    username: 'minji.kim',
    loginUrl: 'https://dure.example/login',
    resetUrl: 'https://dure.example/forgot?a=1&b=2',
  },
  reset_link: { kind: 'reset_link', name: '김민지', url: resetUrl, minutes: 60 },
  password_changed: {
    kind: 'password_changed',
    name: '김민지',
    changedAt: new Date('2026-03-04T18:05:59.000Z'),
  },
  user_id: { kind: 'user_id', name: '김민지', username: 'minji.kim' },
  partner_request_received: {
    kind: 'partner_request_received',
    name: '김민지',
    senderStoreName: '달빛 카페',
    postTitle: '원두 나눔',
    message: '안녕하세요.\n같이 해요 & 나눠요.',
    url: requestUrl,
  },
  partner_request_accepted: {
    kind: 'partner_request_accepted',
    name: '김민지',
    receiverStoreName: '해님 빵집',
    postTitle: '빵 나눔',
    url: requestUrl,
  },
  partner_request_declined: {
    kind: 'partner_request_declined',
    name: '김민지',
    receiverStoreName: '해님 빵집',
    postTitle: '빵 나눔',
    url: requestUrl,
  },
};

/** What a mail must contain, in every language. */
const expectedParts: Record<Mail['kind'], string[]> = {
  verification_code: [code],
  account_exists: ['minji.kim', 'https://dure.example/login', 'https://dure.example/forgot?a=1&b=2'],
  reset_link: ['김민지', resetUrl],
  password_changed: ['김민지', '2026'],
  user_id: ['김민지', 'minji.kim'],
  partner_request_received: ['김민지', '달빛 카페', '원두 나눔', '같이 해요 & 나눠요.', requestUrl],
  partner_request_accepted: ['김민지', '해님 빵집', '빵 나눔', requestUrl],
  partner_request_declined: ['김민지', '해님 빵집', '빵 나눔', requestUrl],
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

t.test('a code for an account names its username, not as a link', async (t) => {
  for (const language of languages) {
    const { text, html } = renderMail({ ...mails.verification_code, username: 'minji' } as Mail, language);
    t.match(text, 'minji');
    t.match(html, 'minji');
    const tempting = renderMail(
      { ...mails.verification_code, username: 'win.example.com' } as Mail,
      language,
    );
    t.notMatch(tempting.text + tempting.html, /win\.example|example\.com/);
    t.match(tempting.text, /win\.\u2060example\.\u2060com/);
  }
});

t.test('links are on lines of their own', async (t) => {
  for (const language of languages) {
    t.same(renderMail(mails.reset_link, language).text.match(/^https?:.*$/gm), [resetUrl]);
    t.same(renderMail(mails.account_exists, language).text.match(/^https?:.*$/gm), [
      'https://dure.example/login',
      'https://dure.example/forgot?a=1&b=2',
    ]);
  }
});

t.test('every security mail says what to do if it was not you', async (t) => {
  const kinds = ['verification_code', 'account_exists', 'reset_link', 'user_id'] as const;
  for (const kind of kinds) {
    t.match(renderMail(mails[kind], 'ko').text, /직접 요청하지 않았다면 이 메일을 무시하셔도 돼요/, kind);
    t.match(renderMail(mails[kind], 'en').text, /you can ignore this mail/, kind);
  }
  t.match(
    renderMail(mails.password_changed, 'ko').text,
    /직접 바꾸지 않았다면 지금 바로 .*다시 설정해 주세요/,
  );
  t.match(renderMail(mails.password_changed, 'en').text, /If it was not you, .*set a new password/);
});

t.test('durations are in the largest exact unit', async (t) => {
  const textFor = (minutes: number, language: Language) =>
    renderMail({ kind: 'verification_code', code, minutes }, language).text;
  t.match(textFor(10, 'ko'), /10분 동안/);
  t.match(textFor(60, 'ko'), /1시간 동안/);
  t.match(textFor(90, 'ko'), /90분 동안/);
  t.match(textFor(1, 'en'), /for 1 minute\./);
  t.match(textFor(10, 'en'), /for 10 minutes\./);
  t.match(textFor(60, 'en'), /for 1 hour\./);
  t.match(textFor(120, 'en'), /for 2 hours\./);
  t.match(textFor(1.9, 'en'), /for 1 minute\./, 'never longer than it is');
});

t.test('times are in Seoul for Korean and in UTC for English, with the zone', async (t) => {
  t.match(renderMail(mails.password_changed, 'ko').text, '2026년 3월 5일 03:05(한국 시간, KST)');
  t.match(renderMail(mails.password_changed, 'en').text, '4 March 2026 at 18:05 UTC');
});

t.test('nothing that users write becomes markup', async (t) => {
  const nasty = `<script>alert("x")</script><b a='1'>&amp;`;
  const rendered: Mail[] = [
    { ...mails.verification_code, code: nasty } as Mail,
    {
      kind: 'account_exists',
      username: nasty,
      loginUrl: `https://a/?${nasty}`,
      resetUrl: `https://b/?${nasty}`,
    },
    { kind: 'reset_link', name: nasty, url: `https://a/?${nasty}`, minutes: 60 },
    { kind: 'password_changed', name: nasty, changedAt: new Date(0) },
    { kind: 'user_id', name: nasty, username: nasty },
    {
      kind: 'partner_request_received',
      name: nasty,
      senderStoreName: nasty,
      postTitle: nasty,
      message: nasty,
      url: `https://a/?${nasty}`,
    },
    { kind: 'partner_request_accepted', name: nasty, receiverStoreName: nasty, postTitle: nasty, url: nasty },
    { kind: 'partner_request_declined', name: nasty, receiverStoreName: nasty, postTitle: nasty, url: nasty },
  ];
  t.equal(rendered.length, Object.keys(mails).length);
  for (const mail of rendered) {
    for (const language of languages) {
      const { html } = renderMail(mail, language);
      t.notMatch(html, /<script|<b |alert\("/, mail.kind);
      t.ok(html.includes(escaped(nasty)), mail.kind);
    }
  }
});

t.test('a subject never contains a line break or a control character', async (t) => {
  const name = '카페\r\nBcc: victim@example.com\u0000\u2028\u0085끝\u202e';
  const url = requestUrl;
  const rendered: Mail[] = [
    { kind: 'partner_request_received', name, senderStoreName: name, postTitle: name, message: 'm', url },
    { kind: 'partner_request_accepted', name, receiverStoreName: name, postTitle: name, url },
    { kind: 'partner_request_declined', name, receiverStoreName: name, postTitle: name, url },
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
    const { text, html } = renderMail({ ...mails.partner_request_received, message } as Mail, language);
    t.ok(text.includes('> 첫 줄\n>\n> <둘째> 줄\n> 654321\n> https://evil.example/\n'));
    t.ok(html.includes('첫 줄<br><br>&lt;둘째&gt; 줄<br>654321<br>https://evil.example/</blockquote>'));
  }
});

t.test('a name that mail clients would turn into a link is not used to greet', async (t) => {
  for (const name of ['evil.example', '당첨! https://evil.example', 'www.evil', '가게.한국']) {
    for (const language of languages) {
      const { text, html } = renderMail({ kind: 'reset_link', name, url: resetUrl, minutes: 60 }, language);
      t.notOk(text.includes(name) || html.includes(name), name);
      t.match(text, language === 'ko' ? /^안녕하세요\.$/m : /^Hello,$/m);
    }
  }
  t.match(
    renderMail({ kind: 'user_id', name: 'J. R. Kim', username: 'jrkim' }, 'en').text,
    /^Hello J\. R\. Kim,$/m,
  );
});
