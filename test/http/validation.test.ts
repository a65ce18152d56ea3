import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import t from 'tap';
import { Text } from '../../src/http/text.ts';
import { createTestApp, createUser, password } from '../support/app.ts';
import { invalid, refused } from '../support/assertions.ts';

const json = { 'content-type': 'application/json' };
const english = { 'accept-language': 'en' };

/** A route that takes what no operation takes by itself. */
async function probeRoutes(app: FastifyInstance): Promise<void> {
  const Item = Type.Object(
    { text: Text('block', { minLength: 1, maxLength: 5 }), count: Type.Optional(Type.Integer()) },
    { additionalProperties: false },
  );
  app.post(
    '/api/probe/',
    {
      config: { message: { ko: '확인', en: 'ok' } },
      schema: {
        hide: true,
        querystring: Type.Object({
          number: Type.Optional(Type.Integer({ minimum: -5, maximum: 100 })),
          flag: Type.Optional(Type.Boolean()),
        }),
        body: Type.Object(
          {
            items: Type.Array(Item, { minItems: 1, maxItems: 3 }),
            ids: Type.Optional(Type.Array(Type.Integer(), { uniqueItems: true })),
            on: Type.Optional(Type.Boolean()),
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Unknown() },
      },
    },
    async ({ body, query }) => ({ body, query }),
  );
}

t.test('validation', async (t) => {
  const app = await createTestApp({}, { routes: probeRoutes });
  t.teardown(app.close);
  const { call } = app;
  const { token } = await createUser(app);
  const account = { username: 'somebody', password, name: '김두레', email: 'somebody@example.com' };
  const signUp = (body: unknown, headers = {}) => call('POST', '/auth/signup/', { body, headers });
  const rename = (name: unknown) => call('PATCH', '/auth/me/', { token, body: { name } });
  const renameRaw = (name: string) =>
    call('PATCH', '/auth/me/', { token, body: `{"name":${name}}`, headers: json });
  const probe = (body: unknown, query = '') => call('POST', `/api/probe/${query}`, { body });

  t.test('every failing field is named at once', async (t) => {
    invalid(t, await signUp({}), 'username', 'password', 'name', 'email');
    const body = { username: '1', password: 'short', name: '', email: 'x', role: 'admin', is_verified: true };
    invalid(t, await signUp(body), ...Object.keys(body));
    invalid(t, await signUp({ ...account, email: undefined }), 'email');
  });

  t.test('the texts are Korean, or English for who prefers it', async (t) => {
    const body = { username: 'x'.repeat(31), password: 1, email: 'x', role: 'admin' };
    const korean = invalid(t, await signUp(body), 'username', 'password', 'name', 'email', 'role');
    for (const text of Object.values(korean).flat()) t.match(text, /[가-힣]/);
    const texts = (await signUp(body, english)).body.data.fields;
    t.strictSame(texts, {
      username: ['Must have at most 30 characters.'],
      password: ['Must be a string.'],
      name: ['This field is required.'],
      email: ['Must be a valid e-mail address.'],
      role: ['This field is not known.'],
    });
  });

  t.test('a body that is no object is refused as `body`', async (t) => {
    for (const body of ['null', '[]', '"text"', '1', 'true', '[{"username":"a"}]', '""']) {
      const answer = await call('POST', '/auth/signup/', { body, headers: { ...json, ...english } });
      t.strictSame(invalid(t, answer, 'body').body, ['Must be an object.'], body);
    }
  });

  t.test('values of a body are never converted', async (t) => {
    for (const value of [1, 0, true, false, null, ['somebody'], {}, 1.5]) {
      for (const field of ['username', 'password', 'name', 'email', 'verification_token']) {
        invalid(t, await signUp({ ...account, [field]: value }), field);
      }
    }
    const item = { text: 'a' };
    for (const count of ['1', 1.5, true, null, '']) {
      invalid(t, await probe({ items: [{ ...item, count }] }), '/items/0/count');
    }
    for (const on of ['true', 1, 0, null, 'on']) invalid(t, await probe({ items: [item], on }), 'on');
    for (const items of ['a', item, null, 1]) invalid(t, await probe({ items }), 'items');
  });

  t.test('unknown fields are refused by name, and never by more than a few dozen', async (t) => {
    for (const field of ['id', 'role', 'Username', 'a/b', 'a~b', '한글', ' ', 'items']) {
      invalid(t, await signUp({ ...account, [field]: 1 }), field);
    }
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 1]));
    const answer = await signUp({ ...account, ...many });
    t.equal(Object.keys(answer.body.data.fields).length, 50);
    t.ok(answer.text.length < 10_000);
    for (const name of [`"${'😀'.repeat(500)}"`, '"\\ud800"', `"${'~/'.repeat(500)}"`]) {
      const body = JSON.stringify(account).replace('{', `{${name}:1,`);
      const long = await call('POST', '/auth/signup/', { body, headers: json });
      refused(t, long, 400, 'validation_error', { fields: long.body.data.fields });
      t.ok(long.text.length < 1_000);
      t.ok(Object.keys(long.body.data.fields).every((field) => field.isWellFormed()));
    }
  });

  t.test('values inside a field are named by a JSON pointer', async (t) => {
    const items = [{ text: 'a' }, { text: 'too long', extra: 1 }, { count: 'x' }];
    const texts = invalid(
      t,
      await probe({ items }),
      '/items/1/text',
      '/items/1/extra',
      '/items/2/text',
      '/items/2/count',
    );
    t.equal(texts['/items/2/text']?.length, 1);
    invalid(t, await probe({ items: [] }), 'items');
    invalid(t, await probe({ items: Array(4).fill({ text: 'a' }) }), 'items');
    invalid(t, await probe({ items: [{ text: 'a' }], ids: [1, 2, 1] }), 'ids');
  });

  t.test('numbers of a query are plain decimal digits', async (t) => {
    const sessions = (query: string) => call('GET', `/auth/sessions/${query}`, { token });
    for (const limit of ['1', '20', '100']) t.equal((await sessions(`?limit=${limit}`)).status, 200);
    const wrong = [
      '0x10',
      '1e1',
      '+1',
      '%2B1',
      '%201',
      '1%20',
      '1.0',
      '1.5',
      '',
      '0',
      '101',
      '-1',
      '01',
      '1_0',
      'abc',
    ];
    const stranger = [
      'NaN',
      'Infinity',
      'null',
      'true',
      '%EF%BC%91',
      '1%00',
      '99999999999999999999',
      '1,2',
      '[1]',
    ];
    for (const limit of [...wrong, ...stranger]) invalid(t, await sessions(`?limit=${limit}`), 'limit');
    invalid(t, await sessions('?limit=1&limit=2'), 'limit');
    for (const broken of ['%ED%A0%80', '%ff%fe', '%zz'])
      invalid(t, await sessions(`?cursor=${broken}`), 'query');
    t.equal(
      (await sessions('?limit[]=1&limit[a]=0x10&unknown=1')).status,
      200,
      'other names are other parameters',
    );
    const body = { items: [{ text: 'a' }] };
    t.strictSame((await probe(body, '?number=-5&flag=true')).body.data.query, { number: -5, flag: true });
    t.strictSame((await probe(body, '?number=0&flag=false')).body.data.query, { number: 0, flag: false });
    for (const flag of ['1', 'TRUE', 'yes', '']) invalid(t, await probe(body, `?flag=${flag}`), 'flag');
    invalid(t, await probe(body, '?number=-0'), 'number');
  });

  t.test('parameters of a query are texts under the same rules', async (t) => {
    const validate = (query: string) => call('GET', `/auth/reset-password-validate/${query}`);
    invalid(t, await validate(''), 'uid', 'token');
    invalid(t, await validate('?uid=&token=a'), 'uid');
    invalid(t, await validate('?uid=a&uid=b&token=c'), 'uid');
    invalid(t, await validate('?uid=a%00b&token=c'), 'uid');
    for (const uid of ['%', '%zz', '%ff', '%ED%A0%80'])
      invalid(t, await validate(`?uid=${uid}&token=c`), 'query');
    for (const uid of ['__proto__', '%F0%9F%98%80']) {
      const answer = await validate(`?uid=${uid}&token=b&__proto__=1&constructor=2`);
      refused(t, answer, 400, 'reset_link_invalid');
    }
  });

  t.test('text is brought into NFC, trimmed, and counted in characters', async (t) => {
    const cases: [string, string][] = [
      ['  김두레 ', '김두레'],
      ['\t김두레\n', '김두레'],
      ['\u3000김 두레\u00a0', '김 두레'],
      ['\ufeff김두레', '김두레'],
      ['\u1112\u1161\u11ab\u1100\u1173\u11af', '한글'],
      ['Cafe\u0301', 'Café'],
      ['Å'.normalize('NFD'), 'Å'],
      ['e\u0301'.repeat(50), 'é'.repeat(50)],
      ['😀'.repeat(50), '😀'.repeat(50)],
      ['𠮷野家', '𠮷野家'],
      [`  ${'가'.repeat(50)}  `, '가'.repeat(50)],
    ];
    for (const [given, kept] of cases) {
      const answer = await rename(given);
      t.equal(answer.status, 200, answer.text);
      t.equal(answer.body.data.name, kept);
    }
    for (const long of ['😀'.repeat(51), 'é'.repeat(51), '가'.repeat(51)])
      invalid(t, await rename(long), 'name');
  });

  t.test('emoji and scripts that need joiners are welcome', async (t) => {
    const names = [
      '👨‍👩‍👧‍👦',
      '👩🏽‍🍳 분식',
      '❤️',
      '🇰🇷',
      '1️⃣',
      'می‌خواهم',
      'क्‍ष',
      '🏳️‍🌈',
      '﷽',
      'Z\u0335\u0321\u0353',
    ];
    for (const name of names) {
      const answer = await rename(name);
      t.equal(answer.body.data.name, name.normalize('NFC'), answer.text);
    }
  });

  t.test('control characters are refused', async (t) => {
    const controls = [
      '\u0000',
      '\u0001',
      '\u0007',
      '\b',
      '\t',
      '\n',
      '\r',
      '\r\n',
      '\u001b',
      '\u007f',
      '\u0080',
      '\u0085',
      '\u009f',
    ];
    for (const control of controls) {
      invalid(t, await rename(`김${control}두레`), 'name');
      invalid(t, await signUp({ ...account, password: `${password}${control}x` }), 'password');
      invalid(t, await signUp({ ...account, email: `some${control}body@example.com` }), 'email');
      invalid(
        t,
        await call('POST', '/auth/login/', { body: { username: `a${control}b`, password } }),
        'username',
      );
    }
    for (const control of ['\u0000', '\u001b', '\u007f', '\u0085']) {
      invalid(t, await rename(`${control}김두레`), 'name');
      invalid(t, await rename(`김두레${control}`), 'name');
    }
  });

  t.test('unpaired surrogates are refused', async (t) => {
    for (const text of [
      '"\\ud800"',
      '"\\udc00"',
      '"a\\ud83d"',
      '"\\ude00\\ud83d"',
      '"\\ud83d\\ud83d\\ude00"',
    ]) {
      invalid(t, await renameRaw(text), 'name');
      const body = `{"username":"nobody","password":${text}}`;
      invalid(t, await call('POST', '/auth/login/', { body, headers: json }), 'password');
    }
    t.equal((await renameRaw('"\\ud83d\\ude00"')).body.data.name, '😀');
  });

  t.test('what deceives or cannot be seen is refused', async (t) => {
    const deceptive = [
      '\u202a',
      '\u202e',
      '\u2066',
      '\u2069',
      '\u200e',
      '\u200f',
      '\u061c',
      '\u200b',
      '\u2060',
      '\ufeff',
      '\u{e0041}',
    ];
    for (const character of deceptive) invalid(t, await rename(`김${character}두레`), 'name');
    const blank = [
      '',
      ' ',
      '\u00a0',
      '\u3000',
      '\u3164',
      '\u3164 \u3164',
      '\uffa0',
      '\u115f',
      '\u1160',
      '\u2800',
      '\u200c\u200d',
      '\u00ad',
      '\ufe0f',
      '\u034f',
    ];
    for (const name of blank) invalid(t, await rename(name), 'name');
    t.equal((await rename('가\u3164')).status, 200, 'next to something to see it does no harm');
  });

  t.test('longer texts may hold line feeds, and nothing else of the kind', async (t) => {
    const text = async (value: string) => probe({ items: [{ text: value }] });
    t.equal((await text('a\nb')).body.data.body.items[0].text, 'a\nb');
    t.equal((await text('a\r\nb')).body.data.body.items[0].text, 'a\nb');
    t.equal((await text('\n a\n\nb \r\n')).body.data.body.items[0].text, 'a\n\nb');
    for (const value of [
      'a\rb',
      'a\tb',
      'a\u000bb',
      'a\u0085b',
      'a\u0000',
      '\u3164\n\u3164',
      '\n\n',
      '\u202ea',
    ]) {
      invalid(t, await text(value), '/items/0/text');
    }
  });

  t.test('an address is as long as SMTP allows', async (t) => {
    const ask = (email: string) => call('POST', '/auth/find-id/', { body: { email } });
    const domain = (length: number) => `${`${'d'.repeat(60)}.`.repeat(4).slice(0, length - 4)}.com`;
    t.equal((await ask(`${'a'.repeat(64)}@example.com`)).status, 200);
    invalid(t, await ask(`${'a'.repeat(65)}@example.com`), 'email');
    t.equal((await ask(`somebody@${domain(245)}`)).status, 200);
    invalid(t, await ask(`somebodys@${domain(245)}`), 'email');
    invalid(t, await ask(`a@${'d'.repeat(64)}.com`), 'email');
  });

  t.test('an Idempotency-Key is 1-255 visible ASCII characters', async (t) => {
    const wrong = ['', ' ', 'a b', 'x'.repeat(256), 'caf\u00e9', '\u007f', 'a\tb'];
    for (const key of wrong) {
      invalid(t, await signUp(account, { 'idempotency-key': key }), 'idempotency-key');
    }
    invalid(
      t,
      await signUp({}, { 'idempotency-key': '!~'.repeat(127) }),
      'username',
      'password',
      'name',
      'email',
    );
  });

  t.test('no text takes long to refuse', async (t) => {
    const size = 100_000;
    const filled = (unit: string) => unit.repeat(size / unit.length);
    const texts = [
      ...['a', '.', '@', 'a.', 'a@', '@.', '-', 'a-', '.@a', ' ', ' a', '%', '+'].map(filled),
      `${filled('a')}@`,
      `a@${filled('a.')}`,
      `a@${filled('a-')}.`,
      `a${filled(' ')}a`,
      `a${'\u3164'.repeat(size / 3)}a`,
      'a\u0316\u0301'.padEnd(size / 2, '\u0301\u0316'),
      `a${'\u0301'.repeat(size / 4)}${'\u0316'.repeat(size / 4)}`,
      '\u1100\u1161'.repeat(size / 6),
    ];
    for (const text of texts) {
      const started = performance.now();
      const answers = [
        await signUp({ ...account, username: text }),
        await signUp({ ...account, password: text }),
        await call('POST', '/auth/find-id/', { body: { email: text } }),
        await call('POST', '/auth/login/', { body: { username: text, password: 'x' } }),
        await rename(text),
      ];
      const took = performance.now() - started;
      for (const answer of answers) t.equal(answer.body.data.code, 'validation_error');
      t.ok(took < 1_000, `${took} ms for ${JSON.stringify(text.slice(0, 8))}`);
    }
  });
});
