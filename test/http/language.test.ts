import t from 'tap';
import { createTestApp, createUser, password } from '../support/app.ts';
import { contract } from '../support/contract.ts';

t.test('language', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const ask = (header: string | undefined, path = '/auth/me/') =>
    app.call('GET', path, { headers: header === undefined ? {} : { 'accept-language': header } });
  const texts = { ko: '로그인이 필요합니다.', en: 'Authentication credentials were not provided.' };

  t.test('Accept-Language is negotiated with quality values; the default is Korean', async (t) => {
    const korean = [
      ...[undefined, '', 'ko', 'ko-KR', 'ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7', 'en-US;q=0.5, ko-KR;q=0.9'],
      ...['ko, en', 'ja', 'ja,fr;q=0.5', '*', 'ja,*;q=0.5', 'ko;q=0', 'en;q=0', 'en;q=0,*', 'ko;q=0,en;q=0'],
      ...['english', 'enx', '한국어', ';;;,,,'],
    ];
    const english = [
      ...[
        'en',
        'EN',
        'en-US',
        'en-gb',
        'en-US,en;q=0.9,ko;q=0.8',
        'ko;q=0.3,en;q=0.4',
        'en, ko',
        'en;q=0.001',
      ],
      ...['ja,en;q=0.5', 'ja,en;q=0.2,ko;q=0.1', 'en,*;q=0.5', 'ko;q=0,en', 'ko;q=0,*', 'en-US;q=0,en'],
      ...[' en ; q=1 ', 'korean,en'],
    ];
    const cases = [
      ...korean.map((header) => ({ header, language: 'ko' as const })),
      ...english.map((header) => ({ header, language: 'en' as const })),
    ];
    for (const { header, language } of cases) {
      const response = await ask(header);
      t.equal(response.body.message, texts[language], `${header}`);
      t.equal(response.body.data.detail, texts[language]);
      t.equal(response.headers['content-language'], language);
      t.equal(response.status, 401);
      t.equal(response.body.data.code, 'not_authenticated');
    }
  });

  t.test('an unreadable header is ignored', async (t) => {
    const garbage = [
      ...[';', ',', 'q=1', '=', '-', 'en-', ';q=1', 'ko;q=x', 'en;q=', '\u00ff', '../../etc'],
      ...['a'.repeat(8_000), 'a-'.repeat(4_000), 'en;q=0.5,'.repeat(800), ' '.repeat(8_000)],
    ];
    for (const header of garbage) {
      const response = await ask(header);
      t.equal(response.status, 401);
      t.ok(['ko', 'en'].includes(String(response.headers['content-language'])));
    }
  });

  t.test('every response has Content-Language and Vary', async (t) => {
    const { token } = await createUser(app);
    const headers = { 'accept-language': 'en' };
    const responses = [
      await app.call('GET', '/auth/me/', { token, headers }),
      await app.call('POST', '/auth/login/', { body: {}, headers }),
      await app.call('POST', '/auth/login/', { body: { username: 'unknown', password }, headers }),
      await app.call('GET', '/nothing', { headers }),
      await app.call('PUT', '/auth/me/', { headers }),
      await app.call('POST', '/auth/login/', {
        body: '{',
        headers: { ...headers, 'content-type': 'application/json' },
      }),
    ];
    t.strictSame(
      responses.map(({ status }) => status),
      [200, 400, 401, 404, 405, 400],
    );
    for (const response of responses) {
      t.equal(response.headers['content-language'], 'en');
      t.match(response.headers.vary, /\bAccept-Language\b/);
      t.notMatch(response.body.message, /[가-힣]/);
    }
  });

  t.test('only texts depend on the language', async (t) => {
    const { token } = await createUser(app);
    const both = async (method: string, path: string, options = {}) => {
      const responses = [];
      for (const language of ['ko', 'en']) {
        responses.push(
          await app.call(method, path, { ...options, headers: { 'accept-language': language } }),
        );
      }
      const [korean, english] = responses;
      t.not(korean?.body.message, english?.body.message);
      t.equal(korean?.status, english?.status);
      return [korean?.body.data, english?.body.data];
    };
    const [mine, same] = await both('GET', '/auth/me/', { token });
    t.strictSame(mine, same);
    for (const [method, path, options] of [
      ['GET', '/auth/nothing/', {}],
      ['GET', '/auth/login/', {}],
      ['GET', '/auth/me/', { token: 'x' }],
      ['POST', '/auth/signup/', { body: { username: 'x' } }],
    ] as const) {
      const [korean, english] = await both(method, path, options);
      t.equal(korean.code, english.code);
      t.strictSame(Object.keys(korean), Object.keys(english));
      t.strictSame(Object.keys(korean.fields ?? {}), Object.keys(english.fields ?? {}));
      t.strictSame(korean.reason, english.reason);
    }
  });
});

t.test('every Korean sentence of the document is in 합니다체', async (t) => {
  const sentences = JSON.stringify(contract.document).matchAll(/[가-힣]+\.(?=[" ])/g);
  const endings = Array.from(sentences, ([ending]) => ending);
  t.ok(endings.includes('조회했습니다.'), 'the messages of successes');
  t.ok(endings.includes('주세요.'), 'the messages of errors');
  t.same(
    endings.filter((ending) => !/(니다|세요)\.$/.test(ending)),
    [],
  );
});
