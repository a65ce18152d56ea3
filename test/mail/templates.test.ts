import t from 'tap';
import type { Language } from '../../src/http/language.ts';
import { escapeHtml } from '../../src/infrastructure/mail/rendering.ts';
import { code, type Mail, mails, render, requestUrl, resetUrl } from './samples.ts';

const languages: Language[] = ['ko', 'en'];

/** Fields that choose the words. */
const words = ['kind', 'change', 'method', 'ended'];

/** What an email must contain, in every language: its texts, the lines of a message one by one. */
const partsOf = (mail: Mail): string[] =>
  Object.entries(mail).flatMap(([field, value]) => {
    if (value instanceof Date) return `${value.getUTCFullYear()}`;
    return typeof value === 'string' && !words.includes(field) ? value.split('\n') : [];
  });

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
  for (const mail of Object.values(mails)) {
    t.test(`${mail.kind} in ${language}`, async (t) => {
      const rendered = render(mail, language);
      t.same(render(structuredClone(mail), language), rendered, 'the same bytes for the same input');
      const { subject, text, html } = rendered;
      for (const part of partsOf(mail)) {
        t.ok(text.includes(part), `the text contains ${part}`);
        t.ok(html.includes(escapeHtml(part)), `the HTML contains ${part}`);
      }
      t.match(subject, language === 'ko' ? /^\[두레\] .*[가-힣]$/ : /^[^[]*[a-zA-Z]$|^Dure: .* · /);
      t.ok(html.includes(`<html lang="${language}">`));
      t.ok(html.includes(`<title>${escapeHtml(subject)}</title>`));
      t.equal(/[가-힣]/.test(text.split('\n')[0] ?? ''), language === 'ko', 'the heading is in the language');
      t.notMatch(text + html, /undefined|NaN|\[object/);
      const content = visible(html);
      for (const line of text.split('\n')) {
        const part = line.replace(/^(> |----$)/, '').replace(/:$/, '');
        t.ok(content.includes(part), `the HTML contains what the text contains: ${part}`);
      }
      t.notMatch(html, /<(img|script|link|iframe|form|object)\b|url\(|@import|javascript:|\bon[a-z]+=/i);
      t.ok(html.length < 20_000, 'far below the size at which Gmail cuts an email');
    });
  }
}

t.test('a code is one word near the top, the only six digits, and not in the subject', async (t) => {
  for (const language of languages) {
    const { subject, text, html } = render(mails.verification_code, language);
    const lines = text.split('\n');
    t.ok(lines.indexOf(code) >= 0 && lines.indexOf(code) <= 4);
    t.same(text.match(/\d{6}/g), [code]);
    t.same(new Set(html.match(/\d{6}/g)), new Set([code]), 'no colour or size looks like a code');
    t.notMatch(subject, /\d/);
  }
});

t.test('links are on lines of their own', async (t) => {
  for (const language of languages) {
    t.same(render(mails.reset_link, language).text.match(/^https?:.*$/gm), [resetUrl]);
    const { loginUrl, resetUrl: resetPage } = mails.account_exists;
    t.same(render(mails.account_exists, language).text.match(/^https?:.*$/gm), [loginUrl, resetPage]);
  }
});

/** An email with one text in place of all of its texts. */
function withTexts(mail: Mail, replacement: string): Mail {
  return JSON.parse(JSON.stringify(mail), (key, value) => {
    if (key.endsWith('At')) return new Date(value);
    return typeof value === 'string' && !words.includes(key) ? replacement : value;
  });
}

t.test('nothing that users write becomes markup', async (t) => {
  const nasty = `<script>alert("x")</script><b a='1'>&amp;`;
  const rendered = Object.values(mails).map((mail) => withTexts(mail, nasty));
  for (const mail of rendered) {
    for (const language of languages) {
      const { html } = render(mail, language, `https://u/?${nasty}`);
      t.notMatch(html, /<script|<b |alert\("/, mail.kind);
      t.ok(html.includes(escapeHtml(nasty)), mail.kind);
    }
  }
});

t.test('a subject never contains a line break or a control character', async (t) => {
  const name = '카페\r\nBcc: victim@example.com\u0000\u2028\u0085끝\u202e';
  const named = Object.values(mails).filter((mail) => 'storeName' in mail);
  const rendered = named.map((mail) => ({ ...withTexts(mail, name), message: 'm', url: requestUrl }));
  for (const mail of rendered) {
    for (const language of languages) {
      const { subject, text } = render(mail, language);
      t.notMatch(subject, /[\p{Cc}\u2028\u2029\u202e]/u);
      t.ok(subject.includes('카페 Bcc: victim@example.com 끝'), subject);
      t.match(subject, /^(?:\[두레\]|Dure:) /, 'nor does a subject begin with it');
      t.notMatch(text, /^Bcc:/m, 'nor does a name start a line of the text');
    }
  }
});

t.test('the message of a user keeps its lines and is marked as a quote', async (t) => {
  const message = '첫 줄\r\n\r\n<둘째> 줄\n654321\nhttps://evil.example/';
  for (const language of languages) {
    const { text, html } = render({ ...mails.partner_request_received, message }, language);
    t.ok(text.includes('> 첫 줄\n>\n> <둘째> 줄\n> 654321\n> https://evil.example/\n'));
    t.ok(html.includes('첫 줄<br><br>&lt;둘째&gt; 줄<br>654321<br>https://evil.example/</blockquote>'));
  }
});

t.test('every Korean mail is in 합니다체', async (t) => {
  for (const sample of Object.values(mails)) {
    const mail = 'message' in sample ? { ...sample, message: '반갑습니다.' } : sample;
    const { subject, text, html } = render(mail, 'ko');
    for (const [part, content] of Object.entries({ subject, text, html })) {
      const polite = content.match(/[가-힣]+요(?![가-힣])/g) ?? [];
      const informal = polite.filter((word) => !/(세요|나요)$/.test(word));
      t.same(informal, [], `${mail.kind}: the ${part}`);
    }
    for (const sentence of text.match(/[^.\n]+\.(?=\s)/g) ?? []) {
      t.match(sentence, /(니다|세요)\.$/, mail.kind);
    }
  }
});

t.test('every security email says what to do if it was not you', async (t) => {
  const says = (kind: keyof typeof mails, korean: RegExp, english: RegExp) => {
    t.match(render(mails[kind], 'ko').text, korean, kind);
    t.match(render(mails[kind], 'en').text, english, kind);
  };
  for (const kind of ['verification_code', 'account_exists', 'reset_link', 'user_id'] as const)
    says(kind, /직접 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다\./, /you can ignore this email\./);
  const changed = '직접 바꾸지 않으셨다면 지금 바로 .*';
  says('password_changed', RegExp(`${changed}다시 설정`), /If it was not you, .*set a new password/);
  says('email_changed', RegExp(`${changed}이 주소로`), /If it was not you, go back to this address/);
});

t.test('durations are in the largest exact unit', async (t) => {
  const cases = [
    [10, 'ko', '10분 동안'],
    [60, 'ko', '1시간 동안'],
    [90, 'ko', '90분 동안'],
    [1, 'en', 'for 1 minute.'],
    [1.9, 'en', 'for 1 minute.'],
    [10, 'en', 'for 10 minutes.'],
    [60, 'en', 'for 1 hour.'],
    [120, 'en', 'for 2 hours.'],
  ] as const;
  for (const [minutes, language, expected] of cases)
    t.match(render({ ...mails.verification_code, minutes }, language).text, expected);
});

t.test('times are in Seoul, in English in UTC as well', async (t) => {
  const cases = [
    ['2026-03-04T00:08:59Z', '2026년 3월 4일 오전 9시 8분', '4 March 2026 at 9:08 a.m.', '00:08'],
    ['2026-12-31T18:00:00Z', '2027년 1월 1일 오전 3시', '1 January 2027 at 3:00 a.m.', '31 December, 18:00'],
    ['2026-03-04T15:05:00Z', '2026년 3월 5일 오전 12시 5분', '5 March 2026 at 12:05 a.m.', '4 March, 15:05'],
    ['2026-03-04T03:05:00Z', '2026년 3월 4일 오후 12시 5분', '4 March 2026 at 12:05 p.m.', '03:05'],
    ['2026-03-04T14:59:59Z', '2026년 3월 4일 오후 11시 59분', '4 March 2026 at 11:59 p.m.', '14:59'],
  ] as const;
  for (const [time, korean, english, utc] of cases) {
    const mail = { ...mails.password_changed, changedAt: new Date(time) };
    t.match(render(mail, 'ko').text, `${korean}(한국 시간)에`);
    t.match(render(mail, 'en').text, `on ${english} in Korea (${utc} UTC).`);
  }
});

const greeted = (name: string, language: Language) =>
  render({ kind: 'reset_link', name, url: resetUrl, minutes: 60 }, language).text.split('\n')[2];

t.test('a name gets one 님', async (t) => {
  const cases = {
    김민지: '김민지님, 안녕하세요.',
    이꽃님: '이꽃님, 안녕하세요.',
    '홍길동 님': '홍길동 님, 안녕하세요.',
    김님이: '김님이님, 안녕하세요.',
    'J. R. Kim': 'J. R. Kim님, 안녕하세요.',
    '민지 1990-12': '민지 1990-12님, 안녕하세요.',
  };
  for (const [name, greeting] of Object.entries(cases)) {
    t.equal(greeted(name, 'ko'), greeting);
    t.equal(greeted(name, 'en'), `Hello ${name},`);
  }
});

t.test('a name that email clients would turn into a link is not used to greet', async (t) => {
  const links = ['evil.example', '당첨! https://evil.example', 'www.evil', '가게.한국'];
  const disguised = ['evil．ｅｘａｍｐｌｅ', '가게。한국', 'evil.e\u200dxample', 'भारत.भारत', 'help@evil'];
  const numbers = [
    '010-1234-5678',
    '상담 02) 123 4567',
    '+82 (0)10.1234.5678',
    '０１０１２３４５６７８',
    '٠١٠١٢٣٤٥٦٧٨',
  ];
  for (const name of [...links, 'dure-event-7c71.com', ...disguised, ...numbers]) {
    for (const language of languages) {
      const { text, html } = render({ kind: 'reset_link', name, url: resetUrl, minutes: 60 }, language);
      t.notOk(text.includes(name) || html.includes(name), name);
    }
    t.equal(greeted(name, 'ko'), '안녕하세요.');
    t.equal(greeted(name, 'en'), 'Hello,');
  }
});
