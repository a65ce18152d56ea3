import t from 'tap';
import { createTestApp, createUser, password, type TestResponse } from '../support/app.ts';
import { contract } from '../support/contract.ts';

const app = await createTestApp();
const ask = (header?: string) =>
  app.call('GET', '/auth/me/', { headers: header === undefined ? {} : { 'accept-language': header } });

t.test('Accept-Language is negotiated with quality values; the default is Korean', async (t) => {
  const headers = {
    ko: [
      ...[undefined, '', 'ko', 'ko-KR', 'ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7', 'en-US;q=0.5, ko-KR;q=0.9'],
      ...['ko, en', 'ja', 'ja,fr;q=0.5', '*', 'ja,*;q=0.5', 'ko;q=0', 'en;q=0', 'en;q=0,*', 'ko;q=0,en;q=0'],
      ...['english', 'enx', '한국어', ';;;,,,'],
    ],
    en: [
      ...['en', 'EN', 'en-US', 'en-gb', 'en-US,en;q=0.9,ko;q=0.8', 'ko;q=0.3,en;q=0.4'],
      ...['en, ko', 'en;q=0.001'],
      ...['ja,en;q=0.5', 'ja,en;q=0.2,ko;q=0.1', 'en,*;q=0.5', 'ko;q=0,en', 'ko;q=0,*', 'en-US;q=0,en'],
      ...[' en ; q=1 ', 'korean,en'],
    ],
  };
  const texts = { ko: '로그인이 필요합니다.', en: 'Authentication credentials were not provided.' };
  for (const language of ['ko', 'en'] as const) {
    for (const header of headers[language]) {
      const response = await ask(header);
      t.equal(response.body.message, texts[language], `${header}`);
      t.equal(response.headers['content-language'], language);
    }
  }
});

t.test('an unreadable header is ignored', async (t) => {
  const garbage = [
    ...[';', ',', 'q=1', '=', '-', 'en-', ';q=1', 'ko;q=x', 'en;q=', '\u00ff', '../../etc'],
    ...['a'.repeat(8_000), 'a-'.repeat(4_000), 'en;q=0.5,'.repeat(800), ' '.repeat(8_000)],
  ];
  for (const header of garbage) t.equal((await ask(header)).status, 401);
});

t.test('only texts depend on the language, which every response names', async (t) => {
  const { token } = await createUser(app);
  const withoutTexts = ({ text }: TestResponse) =>
    JSON.parse(text, (name, value) => {
      if (name === 'message' || name === 'detail') return undefined;
      return name === 'fields' ? Object.keys(value) : value;
    });
  for (const [status, method, path, options] of [
    [200, 'GET', '/auth/me/', { token }],
    [401, 'GET', '/auth/me/', { token: 'x' }],
    [401, 'POST', '/auth/login/', { body: { username: 'unknown', password } }],
    [404, 'GET', '/auth/nothing/', {}],
    [404, 'GET', '/nothing', {}],
    [405, 'GET', '/auth/login/', {}],
    [400, 'POST', '/auth/signup/', { body: { username: 'x' } }],
    [400, 'POST', '/auth/login/', { body: '{', headers: { 'content-type': 'application/json' } }],
  ] as const) {
    const call = (language: string) =>
      app.call(method, path, {
        ...options,
        headers: { ...('headers' in options && options.headers), 'accept-language': language },
      });
    const [korean, english] = [await call('ko'), await call('en')];
    t.strictSame([korean.status, english.status], [status, status]);
    t.strictSame(withoutTexts(korean), withoutTexts(english));
    t.match(korean.body.message, /[가-힣]/);
    t.notMatch(english.body.message, /[가-힣]/);
    for (const [language, { headers }] of Object.entries({ ko: korean, en: english })) {
      t.equal(headers['content-language'], language);
      t.match(headers.vary, /\bAccept-Language\b/);
    }
  }
});

t.test('every Korean sentence of the document is in 합니다체', async (t) => {
  const sentences = JSON.stringify(contract.document).matchAll(/[가-힣]+\.(?=[" ])/g);
  const endings = Array.from(sentences, ([ending]) => ending);
  t.ok(endings.includes('조회했습니다.'), 'the messages of successes');
  t.ok(endings.includes('주세요.'), 'the messages of errors');
  const others = endings.filter((ending) => !/(니다|세요)\.$/.test(ending));
  t.same(others, []);
});
