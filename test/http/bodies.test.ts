import t from 'tap';
import { createTestApp, createUser, password } from '../support/app.ts';
import { invalid, rejected } from '../support/assertions.ts';
import { contract } from '../support/contract.ts';
import { listen, rawCall } from '../support/raw-http.ts';
import { openShop } from '../support/stores.ts';

/** In bytes. */
const bodyLimit = 32 * 1024;
const postLimit = 128 * 1024;
const json = { 'content-type': 'application/json' };
const required = ['username', 'password'];

const app = await createTestApp();
const { call } = app;
const logIn = (body: string | Buffer | undefined, headers: Record<string, string> = json) =>
  call('POST', '/auth/login/', { body, headers });

t.test('JSON in UTF-8 is read under every spelling of its name', async (t) => {
  const parameters = ['', '; charset=utf-8', ';charset=UTF-8', ' ; charset=utf8', '; version=1'];
  const types = parameters.map((one) => `application/json${one}`);
  for (const type of [...types, 'APPLICATION/JSON; charset="utf-8"'])
    for (const body of ['{}', '']) invalid(t, await logIn(body, { 'content-type': type }), ...required);
});

t.test('any other media type is unsupported_media_type', async (t) => {
  const types = [
    ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '*/*', 'json'],
    ...['application/octet-stream', 'application/problem+json', 'application/vnd.api+json', 'text/json'],
    ...['application/json5', 'application/jsonx', 'application/json, text/plain'],
    ...['utf-16', 'iso-8859-1', '"euc-kr"'].map((charset) => `application/json; charset=${charset}`),
  ];
  const body = JSON.stringify({ username: 'unknown', password });
  for (const type of [...types, ''])
    rejected(t, await logIn(body, { 'content-type': type }), 415, 'unsupported_media_type');
  rejected(t, await logIn(body, {}), 415, 'unsupported_media_type');
});

t.test('a PATCH also takes a merge patch, and nothing else does', async (t) => {
  const types = ['application/json', 'application/merge-patch+json'];
  const patches = contract.operations.filter(({ method }) => method === 'PATCH');
  t.ok(patches.length >= 6);
  for (const { requestBody } of patches) t.strictSame(Object.keys(requestBody?.content ?? {}), types);
  const { token } = await openShop(app);
  const mergePatch = (type: string, body: object, method = 'PATCH', path = '/api/v1/stores/me/') =>
    call(method, path, { token, body: JSON.stringify(body), headers: { 'content-type': type } });
  for (const type of ['application/merge-patch+json', 'Application/Merge-Patch+JSON; charset=UTF-8']) {
    const changed = await mergePatch(type, { name: type, location: { latitude: 37.5, longitude: 127 } });
    t.match(changed.body.data, { name: type, location: { latitude: 37.5 }, store_categories: [{ id: 1 }] });
    t.match((await mergePatch(type, { location: null })).body.data, { name: type, location: null });
    invalid(t, await mergePatch(type, { name: null }), 'name');
    invalid(t, await mergePatch(type, {}), 'body');
    const asPost = await mergePatch(type, { title: '글', content: '내용' }, 'POST', '/api/v1/posts/');
    rejected(t, asPost, 415, 'unsupported_media_type');
  }
  const names = ['json-patch+json', 'merge-patch+jsonx', 'merge-patch', 'merge-patch+json; charset=utf-16'];
  for (const name of names)
    rejected(t, await mergePatch(`application/${name}`, { name: '이름' }), 415, 'unsupported_media_type');
});

t.test('a body that is not JSON in UTF-8 is malformed_json', async (t) => {
  const bodies = [
    ...['{', '}', '{"username":}', '{"username":"a",}', "{'username':'a'}", '{username:"a"}', '[1,2'],
    '"open',
    ...['{"username":"a"} {}', '{"username":"a\nb"}', 'undefined', 'NaN', '\u0000', ' ', '// comment\n{}'],
    // Prototypes cannot be reached.
    '{"username":"a","password":{"__proto__":{"isAdmin":true}}}',
    '{"\\u005f_proto__":{"isAdmin":true}}',
    Buffer.from('{"username":"caf\u00e9"}', 'latin1'),
    Buffer.from('{"username":"a"}', 'utf16le'),
    Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
    Buffer.concat([Buffer.from('{"username":"'), Buffer.from('한').subarray(0, 2), Buffer.from('"}')]),
  ];
  for (const body of bodies) rejected(t, await logIn(body), 400, 'malformed_json');
});

t.test('nesting deeper than any schema is malformed_json', async (t) => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  invalid(t, await logIn(nested(10)), 'body');
  for (const depth of [20, 1000, 16_000]) rejected(t, await logIn(nested(depth)), 400, 'malformed_json');
  rejected(t, await logIn('{"a":'.repeat(6_000)), 400, 'malformed_json');
});

t.test('a body above the limit is payload_too_large, a body at the limit is read', async (t) => {
  const body = (size: number) => '{"username":"'.padEnd(size - 2, 'a').concat('"}');
  invalid(t, await logIn(body(bodyLimit)), ...required);
  rejected(t, await logIn(body(bodyLimit + 1)), 413, 'payload_too_large');
});

t.test('a post may be larger', async (t) => {
  const { token } = await openShop(app);
  const content = '\\ud83d\\ude00'.repeat(5_000);
  const images = JSON.stringify(Array(10).fill(`https://cdn.example.com/${'a'.repeat(2_000)}`));
  const longest = `{"title":"${'\\ud83d\\ude00'.repeat(100)}","content":"${content}","images":${images}}`;
  const write = (method: string, path: string, body: string) =>
    call(method, path, { token, body, headers: json });
  const created = await write('POST', '/api/v1/posts/', longest);
  t.match(created.body.data, JSON.parse(longest));
  const path = `/api/v1/posts/${created.body.data.id}/`;
  t.equal((await write('PATCH', path, longest)).status, 200);
  const spaces = ' '.repeat(postLimit - longest.length);
  t.equal((await write('POST', '/api/v1/posts/', longest + spaces)).status, 201);
  const tooLong = `${longest}${spaces} `;
  rejected(t, await write('POST', '/api/v1/posts/', tooLong), 413, 'payload_too_large');
  rejected(t, await write('PATCH', path, tooLong), 413, 'payload_too_large');
});

t.test('more values than any schema allows are rejected before they are parsed', async (t) => {
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]));
  const { token } = await openShop(app);
  const post = (images: unknown[]) => call('POST', '/api/v1/posts/', { token, body: { images } });
  const many = await logIn(JSON.stringify(fields(1_001)));
  invalid(t, many, 'body');
  t.match(many.body.data.errors, [{ code: 'too_many', params: { max: 1_000 } }]);
  invalid(t, await post(Array(1_001).fill([])), 'body');
  invalid(t, await post(Array(1_001).fill({})), 'body');
  invalid(t, await logIn(`${'[1'.padEnd(20_010, ',1')}]`), 'body');
  invalid(t, await post(Array(10_002).fill(1)), 'body');
  const body = { ids: Array(5_000).fill('x') };
  const marked = await call('POST', '/api/v1/notifications/mark-read/', { token, body });
  t.strictSame(invalid(t, marked, 'ids').ids, ['100개 이하여야 합니다.'], 'one error');
  // Punctuation inside strings is text.
  const text = '\\" : , [ { \\\\'.repeat(1_000);
  invalid(t, await logIn(JSON.stringify({ username: text })), 'username', 'password');
});

t.test('the limit holds for chunked bodies and for announced lengths', async (t) => {
  const port = await listen(app.app);
  const head = 'POST /auth/login/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const chunk = `${(64 * 1024).toString(16)}\r\n${' '.repeat(64 * 1024)}\r\n`;
  const sendChunks = (chunks: string) => rawCall(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}`);
  rejected(t, await sendChunks(chunk.repeat(3)), 413, 'payload_too_large');
  const announced = await rawCall(port, `${head}Content-Length: ${1024 ** 3}\r\n\r\n{`);
  rejected(t, announced, 413, 'payload_too_large');
  const pieces = (count: number) => sendChunks(`${'1\r\n \r\n'.repeat(count)}2\r\n{}\r\n0\r\n\r\n`);
  for (const count of [0, 500]) invalid(t, await pieces(count), ...required);
  rejected(t, await pieces(5_000), 400, 'malformed_request');
});

t.test('an operation without a body takes an empty one, and nothing in it', async (t) => {
  const { token } = await createUser(app);
  const end = (options: object) => call('DELETE', '/auth/sessions/', { token, ...options });
  t.equal((await end({ body: '', headers: json })).status, 200);
  t.equal((await end({})).status, 200);
  t.equal((await end({ body: {} })).status, 200);
  invalid(t, await end({ body: { all: true, x: 1 } }), 'all', 'x');
  for (const body of ['[]', 'null', '5', 'true', '""', '[1]'])
    invalid(t, await end({ body, headers: json }), 'body');
});
