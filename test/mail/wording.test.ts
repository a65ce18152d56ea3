import t from 'tap';
import { type Language, type Mail, renderMail } from '../../src/infrastructure/mail/templates.ts';
import { languages, mails, resetUrl } from './samples.ts';

t.test('every Korean mail is in 합니다체', async (t) => {
  for (const sample of Object.values(mails)) {
    const mail = 'message' in sample ? { ...sample, message: '반갑습니다.' } : sample;
    const { subject, text, html } = renderMail(mail, 'ko');
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

t.test('every security mail says what to do if it was not you', async (t) => {
  const kinds = ['verification_code', 'account_exists', 'reset_link', 'user_id'] as const;
  for (const kind of kinds) {
    const { text } = renderMail(mails[kind], 'ko');
    t.match(text, /직접 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다\./, kind);
    t.match(renderMail(mails[kind], 'en').text, /you can ignore this email\./, kind);
  }
  t.match(
    renderMail(mails.password_changed, 'ko').text,
    /직접 바꾸지 않으셨다면 지금 바로 .*다시 설정해 주세요/,
  );
  t.match(renderMail(mails.password_changed, 'en').text, /If it was not you, .*set a new password/);
  t.match(
    renderMail(mails.email_changed, 'ko').text,
    /직접 바꾸지 않으셨다면 지금 바로 .*이 주소로 되돌려 주세요/,
  );
  t.match(renderMail(mails.email_changed, 'en').text, /If it was not you, go back to this address now/);
});

t.test('durations are in the largest exact unit', async (t) => {
  const textFor = (minutes: number, language: Language) =>
    renderMail({ ...mails.verification_code, minutes }, language).text;
  t.match(textFor(10, 'ko'), /10분 동안/);
  t.match(textFor(60, 'ko'), /1시간 동안/);
  t.match(textFor(90, 'ko'), /90분 동안/);
  t.match(textFor(1, 'en'), /for 1 minute\./);
  t.match(textFor(10, 'en'), /for 10 minutes\./);
  t.match(textFor(60, 'en'), /for 1 hour\./);
  t.match(textFor(120, 'en'), /for 2 hours\./);
  t.match(textFor(1.9, 'en'), /for 1 minute\./, 'never longer than it is');
});

t.test('times are in Seoul, in English in UTC as well', async (t) => {
  const textFor = (time: string, language: Language) =>
    renderMail({ kind: 'password_changed', name: '김민지', changedAt: new Date(time) }, language).text;
  const cases = [
    {
      time: '2026-03-04T00:08:59.000Z',
      ko: '2026년 3월 4일 오전 9시 8분(한국 시간)에',
      en: 'on 4 March 2026 at 9:08 a.m. in Korea (00:08 UTC).',
    },
    {
      time: '2026-12-31T18:00:00.000Z',
      ko: '2027년 1월 1일 오전 3시(한국 시간)에',
      en: 'on 1 January 2027 at 3:00 a.m. in Korea (31 December, 18:00 UTC).',
    },
    {
      time: '2026-03-04T15:05:00.000Z',
      ko: '2026년 3월 5일 오전 12시 5분(한국 시간)에',
      en: 'on 5 March 2026 at 12:05 a.m. in Korea (4 March, 15:05 UTC).',
    },
    {
      time: '2026-03-04T03:05:00.000Z',
      ko: '2026년 3월 4일 오후 12시 5분(한국 시간)에',
      en: 'on 4 March 2026 at 12:05 p.m. in Korea (03:05 UTC).',
    },
    {
      time: '2026-03-04T14:59:59.999Z',
      ko: '2026년 3월 4일 오후 11시 59분(한국 시간)에',
      en: 'on 4 March 2026 at 11:59 p.m. in Korea (14:59 UTC).',
    },
  ];
  for (const { time, ko, en } of cases) {
    t.ok(textFor(time, 'ko').includes(ko), `${time}: ${ko}`);
    t.ok(textFor(time, 'en').includes(en), `${time}: ${en}`);
  }
});

t.test('a line of HTML never begins with the particle of a bracket or quotation mark', async (t) => {
  const joined = (text: string) => `<span style="white-space:nowrap">${text}</span>`;
  const htmlOf = (mail: Mail) => renderMail(mail, 'ko').html;
  t.ok(htmlOf(mails.password_changed).includes(`(한국 시간${joined(')에')} 두레`));
  const accepted = { ...mails.partner_request_accepted, storeName: '두레 카페(본점)' };
  t.ok(htmlOf(accepted).includes(`두레 카페(본점${joined(')에서')} 수락했습니다`));
  t.ok(htmlOf({ ...mails.user_id, name: '민지♥' }).includes(`민지${joined('♥님')}, 안녕하세요.`));
  t.notMatch(htmlOf({ ...accepted, storeName: '<빵>' }), /<span/, 'an escaped character is not split');
});

const greeted = (name: string, language: Language) =>
  renderMail({ kind: 'reset_link', name, url: resetUrl, minutes: 60 }, language).text.split('\n')[2];

t.test('a name gets one 님', async (t) => {
  t.equal(greeted('김민지', 'ko'), '김민지님, 안녕하세요.');
  t.equal(greeted('이꽃님', 'ko'), '이꽃님, 안녕하세요.');
  t.equal(greeted('홍길동 님', 'ko'), '홍길동 님, 안녕하세요.');
  t.equal(greeted('김님이', 'ko'), '김님이님, 안녕하세요.');
  t.equal(greeted('J. R. Kim', 'ko'), 'J. R. Kim님, 안녕하세요.');
  t.equal(greeted('이꽃님', 'en'), 'Hello 이꽃님,');
  t.equal(greeted('J. R. Kim', 'en'), 'Hello J. R. Kim,');
});

t.test('a name that mail clients would turn into a link is not used to greet', async (t) => {
  for (const name of ['evil.example', '당첨! https://evil.example', 'www.evil', '가게.한국']) {
    for (const language of languages) {
      const { text, html } = renderMail({ kind: 'reset_link', name, url: resetUrl, minutes: 60 }, language);
      t.notOk(text.includes(name) || html.includes(name), name);
    }
    t.equal(greeted(name, 'ko'), '안녕하세요.');
    t.equal(greeted(name, 'en'), 'Hello,');
  }
});

t.test('answers to a request say which side did what', async (t) => {
  const sentenceOf = (mail: Mail, language: Language) =>
    renderMail(mail, language).text.split('\n')[4]?.split('. ')[0];
  t.equal(
    sentenceOf(mails.partner_request_received, 'ko'),
    '달빛 카페에서 ‘원두 나눔’ 글을 보고 제휴를 요청했습니다.',
  );
  t.equal(
    sentenceOf(mails.partner_request_accepted, 'ko'),
    '‘빵 나눔’ 글에 보내신 제휴 요청을 해님 빵집에서 수락했습니다',
  );
  t.equal(
    sentenceOf(mails.partner_request_declined, 'ko'),
    '아쉽게도 ‘빵 나눔’ 글에 보내신 제휴 요청을 해님 빵집에서 거절했습니다',
  );
  t.equal(
    sentenceOf(mails.partner_request_received, 'en'),
    '달빛 카페 would like to partner with you on your post “원두 나눔”.',
  );
  t.equal(
    sentenceOf(mails.partner_request_accepted, 'en'),
    '해님 빵집 accepted your partnership request for “빵 나눔”',
  );
});
