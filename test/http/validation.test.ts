import process from 'node:process';
import t from 'tap';
import { createTestApp, createUser, password } from '../support/app.ts';
import { invalid } from '../support/assertions.ts';
import { openShop } from '../support/stores.ts';

/*
 * How input is validated and how a rejection describes it, on a few fields. `body-fields.test.ts` and `parameters.test.ts` check that
 * every field and parameter has these rules.
 */

const json = { 'content-type': 'application/json' };
const english = { 'accept-language': 'en' };

const app = await createTestApp();
const { call } = app;
const { token } = await createUser(app);
const shop = await openShop(app);
const account = { username: 'somebody', password, name: '김두레', email: 'somebody@example.com' };
const signUp = (body: unknown, headers = {}) => call('POST', '/auth/signup/', { body, headers });
const rename = (name: unknown) => call('PATCH', '/auth/me/', { token, body: { name } });
/** Sends a post, valid but for these fields. */
const write = (fields: object) =>
  call('POST', '/api/v1/posts/', { token: shop.token, body: { title: '글', content: '내용', ...fields } });

t.test('the texts are Korean, or English on request', async (t) => {
  const body = { username: 'x'.repeat(31), password: 1, email: 'x', role: 'admin' };
  const korean = invalid(t, await signUp(body), 'username', 'password', 'name', 'email', 'role');
  for (const text of Object.values(korean).flat()) t.match(text, /[가-힣]/);
  const { fields, errors } = (await signUp({ ...body, 5: 1 }, english)).body.data;
  t.match(fields, {
    username: ['Must have at most 30 characters.'],
    password: ['Must be a string.'],
    name: ['This field is required.'],
    email: ['Must be an email address such as name@example.com.'],
    role: ['This field is not known.'],
  });
  const named = errors.map(({ field }: { field: string }) => field);
  t.strictSame([...new Set(named)], Object.keys(fields), 'in one order, also a name that is a number');
  const list = await call('POST', '/auth/signup/', { body: '[]', headers: { ...json, ...english } });
  t.strictSame(invalid(t, list, 'body').body, ['Must be an object.']);
});

t.test('an empty text or list has one text, which says what is missing', async (t) => {
  const create = (path: string, body: object) =>
    call('POST', `/api/v1/${path}/`, { token: shop.token, body });
  for (const empty of ['', ' ', '\u3164']) {
    const account = await signUp({ username: empty, name: empty, email: 'x@example.com', password });
    t.match(account.body.data.errors, [
      { field: 'username', code: 'too_short' },
      { field: 'name', code: 'too_short', params: { min: 1 } },
    ]);
    const store = await create('stores', { name: empty, category_ids: [] });
    const post = await create('posts', { title: empty, content: empty });
    t.strictSame(
      { ...account.body.data.fields, ...store.body.data.fields, ...post.body.data.fields },
      {
        username: ['아이디를 입력해 주세요.'],
        name: ['이름을 입력해 주세요.'],
        category_ids: ['업종을 하나 이상 골라 주세요.'],
        title: ['제목을 입력해 주세요.'],
        content: ['내용을 입력해 주세요.'],
      },
    );
    t.match(store.body.data.errors, [{}, { field: 'category_ids', code: 'too_few', params: { min: 1 } }]);
  }
});

t.test('every wrong field is named at once, with a code and the parameters of its text', async (t) => {
  const body = { username: '1', password: 'short', name: '', email: 'x', role: 'admin' };
  const response = await signUp(body, english);
  invalid(t, response, ...Object.keys(body));
  const byField = (name: string) =>
    response.body.data.errors
      .filter(({ field }: { field: string }) => field === name)
      .map(({ field, ...error }: { field: string }) => error);
  t.strictSame(byField('username'), [
    { code: 'too_short', message: 'Must have at least 4 characters.', params: { min: 4 } },
    {
      code: 'invalid_format',
      message: 'Must start with a letter and contain only small letters, digits, ".", "_" and "-".',
    },
  ]);
  t.strictSame(byField('password'), [
    { code: 'too_short', message: 'Must have at least 8 characters.', params: { min: 8 } },
  ]);
  t.strictSame(byField('name'), [{ code: 'too_short', message: 'Enter a name.', params: { min: 1 } }]);
  t.match(byField('email'), [{ code: 'invalid_format' }]);
  t.match(byField('role'), [{ code: 'unknown_field' }]);

  for (const [fields, error] of [
    [{ images: Array(11).fill('https://a.example/1.jpg') }, { code: 'too_many', params: { max: 10 } }],
    [{ title: 'x'.repeat(101) }, { field: 'title', code: 'too_long', params: { max: 100 } }],
    [{ images: [1] }, { field: '/images/0', code: 'invalid_type' }],
    [{ content: 'a\u200b' }, { field: 'content', code: 'invalid_characters' }],
    [{ content: undefined }, { field: 'content', code: 'required' }],
  ] as const) {
    t.match((await write(fields)).body.data.errors, [error]);
  }
  for (const [limit, error] of [
    [0, { code: 'too_small', params: { min: 1 } }],
    [101, { code: 'too_large', params: { max: 100 } }],
  ] as const) {
    const list = await call('GET', `/api/v1/posts/?limit=${limit}`, { token });
    t.match(list.body.data.errors, [{ field: 'limit', ...error }]);
  }
  const box = await call('GET', '/api/v1/notifications/partner-request/?box=other', { token });
  t.match(box.body.data.errors, [{ code: 'not_allowed', params: { allowed: ['sent', 'received'] } }]);
});

t.test('a rejection names at most 20 fields, by at most 120 characters each', async (t) => {
  for (const count of [17, 20, 21, 100, 900]) {
    const many = Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, 1]));
    const response = await signUp({ ...account, ...many, name: '' });
    t.equal(response.body.data.errors.length, Math.min(count + 1, 20));
    invalid(t, response, ...Object.keys(response.body.data.fields));
  }
  for (const name of [`"${'😀'.repeat(500)}"`, '"\\ud800"', `"${'~/'.repeat(500)}"`]) {
    const body = JSON.stringify(account).replace('{', `{${name}:1,`);
    const long = await call('POST', '/auth/signup/', { body, headers: json });
    invalid(t, long, ...Object.keys(long.body.data.fields));
    t.ok(long.text.length < 1_000);
    t.ok(Object.keys(long.body.data.fields).every((field) => field.isWellFormed()));
  }
});

t.test('text is brought into NFC, trimmed, and counted in characters', async (t) => {
  const emoji = ['👨‍👩‍👧‍👦', '👩🏽‍🍳 분식', '❤️', '🇰🇷', '1️⃣', '🏳️‍🌈'];
  const flag = (region: string) =>
    `🏴${[...region].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')}\u{e007f}`;
  const joined = ['می‌خواهم', 'क्‍ष', '﷽', 'Z\u0335\u0321\u0353'];
  const cases: [given: string, kept: string][] = [
    ['  김두레 ', '김두레'],
    ['\t김두레\n', '김두레'],
    ['\u3000김 두레\u00a0', '김 두레'],
    ['\ufeff김두레', '김두레'],
    ['\u1112\u1161\u11ab\u1100\u1173\u11af', '한글'],
    ['Cafe\u0301', 'Café'],
    ['e\u0301'.repeat(50), 'é'.repeat(50)],
    ['😀'.repeat(50), '😀'.repeat(50)],
    ['𠮷野家', '𠮷野家'],
    [`  ${'가'.repeat(50)}  `, '가'.repeat(50)],
    [`O'Neil <b>"&\\\``, `O'Neil <b>"&\\\``],
  ];
  for (const name of [...emoji, ...joined, ...['gbeng', 'gbsct', 'gbwls'].map(flag)])
    cases.push([name, name.normalize('NFC')]);
  for (const [given, kept] of cases) {
    const response = await rename(given);
    t.equal(response.body.data.name, kept, response.text);
  }
  for (const tags of [flag('ustx'), flag('gbeng').slice(2), `${flag('gbwls')}\u{e0041}`])
    invalid(t, await rename(tags), 'name');
  for (const long of ['😀'.repeat(51), 'é'.repeat(51), '가'.repeat(51)])
    invalid(t, await rename(long), 'name');
});

t.test('control, invisible and direction-changing characters are rejected', async (t) => {
  const controls = ['\u0000', '\u001b', '\u007f', '\u0080', '\u0085', '\u009f'];
  const bidirectional = ['\u202a', '\u202e', '\u2066', '\u2069', '\u200e', '\u200f', '\u061c'];
  const separators = ['\u2028', '\u2029', '\u00ad', '\ufff9', '\ufffb', '\u206a', '\u206f'];
  const noncharacters = ['\ufdd0', '\ufdef', '\ufffe', '\uffff', '\u{1fffe}', '\u{10ffff}'];
  const invisible = ['\u200b', '\u2060', '\ufeff', '\u{e0041}'];
  const unwanted = [...controls, ...bidirectional, ...invisible, ...separators, ...noncharacters];
  for (const character of ['\t', '\r\n', ...unwanted]) invalid(t, await rename(`김${character}두레`), 'name');
  const spaces = ['', ' ', '\u00a0', '\u3000', '\u3164', '\u3164 \u3164', '\uffa0', '\u115f', '\u1160'];
  const unseen = ['\u2800', '\u200c\u200d', '\u00ad', '\ufe0f', '\u034f', '\u{1d159}', '\u{1bca0}\u{e0100}'];
  for (const blank of [...spaces, ...unseen]) invalid(t, await rename(blank), 'name');
  const atEnds = controls.flatMap((control) => [`${control}김두레`, `김두레${control}`]);
  for (const ends of [...atEnds, '\u2028김두레', '김두레\u2029']) invalid(t, await rename(ends), 'name');
  t.equal((await rename('가\u3164')).status, 200, 'a filler is accepted next to visible text');
});

t.test('a block may have line feeds; a tab becomes a space; no other control character', async (t) => {
  for (const [given, kept] of [
    ['a\nb', 'a\nb'],
    ['a\r\nb', 'a\nb'],
    ['\n a\n\nb \r\n', 'a\n\nb'],
    ['a\t\tb', 'a  b'],
    ['a\tb\n\t', 'a b'],
  ])
    t.equal((await write({ content: given })).body.data.content, kept);
  const wrong = ['a\rb', 'a\u000bb', 'a\u0085b', 'a\u0000', '\u3164\n\u3164', '\n\n', '\u202ea'];
  for (const content of wrong) invalid(t, await write({ content }), 'content');
});

t.test('no text takes long to reject', async (t) => {
  const size = 30_000;
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
  /** Microseconds of the processor, which do not depend on what else the machine does. */
  async function workFor(text: string): Promise<number> {
    const before = process.cpuUsage();
    const responses = [
      await signUp({ ...account, username: text }),
      await signUp({ ...account, password: text }),
      await call('POST', '/auth/find-id/', { body: { email: text } }),
      await call('POST', '/auth/login/', { body: { username: text, password: 'x' } }),
      await rename(text),
    ];
    const { user, system } = process.cpuUsage(before);
    for (const response of responses) t.equal(response.body.data.code, 'validation_error');
    return user + system;
  }
  const works: [text: string, work: number][] = [];
  for (const text of texts) works.push([text, await workFor(text)]);
  const sorted = works.map(([, work]) => work).sort((one, other) => one - other);
  const usual = sorted[Math.floor(sorted.length / 2)] ?? 0;
  for (const [text, first] of works) {
    // Again, because work may include that of the garbage collector, and of other apps of this process.
    let work = first;
    for (let more = 0; more < 4 && work >= 10 * usual; more++) work = Math.min(work, await workFor(text));
    t.ok(work < 10 * usual, `${work} of ${usual} us for ${JSON.stringify(text.slice(0, 8))}`);
  }
});
