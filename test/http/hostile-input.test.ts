import fc from 'fast-check';
import t, { type Test } from 'tap';
import { type Answer, createTestApp, createUser, password } from '../support/app.ts';
import { noErrorLogged, refused } from '../support/assertions.ts';
import { createContract, type DocumentedOperation } from '../support/contract.ts';
import { listen, rawCall } from '../support/raw-http.ts';
import { createPost, createStore } from '../support/stores.ts';

const contract = createContract();
const operations = contract.operations.filter(({ path }) => /^\/(?:auth|api)\//.test(path));
const withBody = operations.filter(({ requestBody }) => requestBody !== undefined);
const json = { 'content-type': 'application/json' };
const unknownUuid = '00000000-0000-4000-8000-000000000000';

const app = await createTestApp();
t.teardown(app.close);

/** Somebody with a store and a post, to whom each request that is let through would do something. */
async function createShop() {
  const user = await createUser(app);
  await createStore(app, user.token);
  return { ...user, post: await createPost(app, user.token) };
}

const shop = await createShop();

const store = {
  name: '두레 카페',
  category_ids: [1],
  description: '',
  address: '',
  phone_number: '',
  business_hours: '',
};

/** A body of each operation that nothing is wrong with, but that names nothing that exists. A test sees that none is missing. */
const validBodies: Record<string, Record<string, unknown>> = {
  signUp: {
    username: 'somebody',
    password,
    name: '김두레',
    email: 'somebody@example.com',
    verification_token: 'x'.repeat(22),
  },
  updateCurrentUser: { name: '김두레' },
  deleteCurrentUser: { password: 'not-the-password' },
  changePassword: { current_password: 'not-the-password', new_password: 'bibimbap-for-two' },
  logIn: { username: 'nobody-at-all', password },
  refreshToken: { refresh: 'x.y.z' },
  logOut: { refresh: 'x.y.z' },
  sendVerificationCode: { email: 'nobody@example.com' },
  confirmEmail: { email: 'nobody@example.com', code: '123456' },
  requestPasswordReset: { email: 'nobody@example.com' },
  confirmPasswordReset: { uid: unknownUuid, token: 'x'.repeat(22), new_password: 'bibimbap-for-two' },
  findUserId: { email: 'nobody@example.com' },
  createStore: store,
  updateOwnStore: store,
  createPost: { title: '제목', content: '내용', images: ['https://cdn.example.com/1.jpg'] },
  updatePost: { title: '제목', content: '내용', images: ['https://cdn.example.com/1.jpg'] },
  createPartnerRequest: { post_id: 2_147_483_647, message: '함께해요' },
  markNotificationsRead: { ids: [1] },
};

/** Of operations whose fields exclude each other, the other one. */
const otherBodies: Record<string, Record<string, unknown>> = { markNotificationsRead: { up_to_id: 1 } };

/** The same text as 1 for who is careless, and what object-relational mappers take for an operator. */
const wrongTypes: unknown[] = [
  null,
  true,
  1.5,
  -1e308,
  { $ne: null },
  { contains: '' },
  { set: 'x' },
  { not: '', mode: 'insensitive' },
  { toString: 'x', valueOf: 1 },
  [[]],
  [{ $gt: '' }],
];

const wrongTexts = {
  NUL: 'a\u0000b',
  'a control character': 'a\u0007b',
  'an escape': '\u001b[31m',
  C1: 'a\u0085b',
};

const wrongTextsToRead = {
  ...wrongTexts,
  'a lone high surrogate': 'a\ud800',
  'a lone low surrogate': '\udc00a',
  'an override of the direction': 'a\u202eb',
  'an isolate of the direction': 'a\u2066b',
  'a zero-width space': 'a\u200bb',
  'stacked marks': `a${'\u0301'.repeat(31)}`,
  'a byte order mark': 'a\ufeffb',
};

const wrongNumbers: unknown[] = ['1', '0x10', '1e3', 1.5, 0, -1, 2 ** 53, 1e21, Number.MAX_VALUE, 2 ** 63];

interface Send {
  body?: unknown;
  query?: string;
  headers?: Record<string, string>;
  path?: string;
}

/** Sends a request of an operation; without a token where the operation needs none, so that its body decides. */
async function send(operation: DocumentedOperation, { body, query = '', headers, path }: Send = {}) {
  const url = (path ?? pathOf(operation)) + query;
  const isPublic = operation.security === undefined || operation.security.some((one) => !('bearer' in one));
  const options = { body, ...(headers ? { headers } : {}) };
  const isLogOut = operation.operationId === 'logOut';
  return app.call(operation.method, url, isLogOut || isPublic ? options : { ...options, token: shop.token });
}

function pathOf({ path, operationId }: DocumentedOperation): string {
  const id = operationId === 'updatePost' ? String(shop.post.id) : '2147483647';
  return path.replace('{session_id}', unknownUuid).replace(/\{\w+\}/, id);
}

/** What keeps an answer from being one that the document promises; a failure of the server always does. */
function problemsOf(operation: DocumentedOperation, answer: Answer): string[] {
  const problems = contract.problems(operation.method, operation.path, answer);
  return answer.status >= 500 ? [`failed with ${answer.status}: ${answer.text}`, ...problems] : problems;
}

function conforms(t: Test, operation: DocumentedOperation, answer: Answer, about: string): void {
  t.strictSame(problemsOf(operation, answer), [], `${operation.operationId} ${about}`);
}

/** Sends an operation what is made at random, so many times. @throws with the input whose answer is not a documented one */
async function explore(operation: DocumentedOperation, requests: fc.Arbitrary<Send>, numRuns: number) {
  const property = fc.asyncProperty(requests, async (request) => {
    const problems = problemsOf(operation, await send(operation, request));
    if (problems.length > 0) throw new Error(problems.join('; '));
  });
  await fc.assert(property, { numRuns });
}

/** Everything that a request could change without being allowed to. */
async function rows(): Promise<unknown> {
  const { rows } = await app.pool.query(`
    SELECT (SELECT json_agg(u ORDER BY id) FROM (SELECT id, username, email, role, is_verified, suspended_at FROM users) u) AS users,
      (SELECT json_agg(s ORDER BY id) FROM (SELECT id, owner_id, created_at FROM stores) s) AS stores,
      (SELECT json_agg(p ORDER BY id) FROM (SELECT id, store_id, created_at, deleted_at FROM posts) p) AS posts`);
  return rows;
}

/** The fields of a body with what they are. */
function fieldsOf({ operationId }: DocumentedOperation): [string, unknown, Record<string, unknown>][] {
  return [validBodies[operationId], otherBodies[operationId]].flatMap((body) =>
    Object.entries(body ?? {}).map(([name, value]): [string, unknown, Record<string, unknown>] => [
      name,
      value,
      body ?? {},
    ]),
  );
}

/** The properties that a schema of the document names, through its references and alternatives. */
function propertiesOf(schema: object = {}): string[] {
  const found = new Set<string>();
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties') for (const name of Object.keys(value)) found.add(name);
    const next =
      key === '$ref'
        ? [contract.document.components.schemas[value.split('/').at(-1)] ?? {}]
        : ['oneOf', 'anyOf', 'allOf'].includes(key)
          ? value
          : [];
    for (const part of next) for (const name of propertiesOf(part)) found.add(name);
  }
  return [...found];
}

t.test('every operation that takes a body is walked through, with every field that it has', async (t) => {
  t.strictSame(Object.keys(validBodies).sort(), withBody.map(({ operationId }) => operationId).sort());
  for (const operation of withBody) {
    const { schema } = Object.values(operation.requestBody?.content ?? {})[0] ?? {};
    const walked = new Set(fieldsOf(operation).map(([name]) => name));
    t.strictSame([...walked].sort(), propertiesOf(schema).sort(), operation.operationId);
    const { status, text } = await send(operation, { body: validBodies[operation.operationId] });
    t.not(/"code":"validation_error"/.test(text), true, `${operation.operationId}: ${status} ${text}`);
  }
});

t.test('no field takes a value of another type', async (t) => {
  for (const operation of withBody) {
    for (const [name, value, body] of fieldsOf(operation)) {
      const others = [...wrongTypes, ...(typeof value === 'string' ? [1, []] : [{}, ''])];
      for (const other of others) {
        const answer = await send(operation, { body: { ...body, [name]: other } });
        conforms(t, operation, answer, `${name} ${JSON.stringify(other)}`);
        const named = Object.keys(answer.body?.data?.fields ?? {});
        const isNamed = named.some((field) => field === name || field.startsWith(`/${name}/`));
        t.ok(answer.status === 400 && isNamed, `${operation.operationId} ${name} ${JSON.stringify(other)}`);
      }
    }
  }
});

t.test('no field takes what no text may hold', async (t) => {
  const secrets = ['password', 'new_password', 'current_password', 'refresh', 'verification_token', 'token'];
  for (const operation of withBody) {
    for (const [name, value, body] of fieldsOf(operation)) {
      const isList = Array.isArray(value);
      if (typeof (isList ? value[0] : value) !== 'string') continue;
      // What is never shown to anybody cannot deceive.
      for (const [what, text] of Object.entries(secrets.includes(name) ? wrongTexts : wrongTextsToRead)) {
        const answer = await send(operation, { body: { ...body, [name]: isList ? [text] : text } });
        conforms(t, operation, answer, `${name} ${what}`);
        t.equal(
          answer.status >= 400 && answer.status < 500,
          true,
          `${operation.operationId} ${name}: ${what}`,
        );
      }
      const megabyte = 'ㄱ'.repeat(200_000);
      const tooLong = await send(operation, { body: { ...body, [name]: isList ? [megabyte] : megabyte } });
      refused(t, tooLong, tooLong.status === 413 ? 413 : 400, tooLong.body?.data?.code, dataOf(tooLong));
    }
  }
});

t.test('no number is read from what is none, nor out of its range', async (t) => {
  for (const operation of withBody) {
    for (const [name, value, body] of fieldsOf(operation)) {
      const isList = Array.isArray(value);
      if (typeof (isList ? value[0] : value) !== 'number') continue;
      for (const wrong of wrongNumbers) {
        const answer = await send(operation, { body: { ...body, [name]: isList ? [wrong] : wrong } });
        conforms(t, operation, answer, `${name} ${wrong}`);
        t.equal(answer.body?.data?.code, 'validation_error', `${operation.operationId} ${name} ${wrong}`);
      }
    }
  }
});

t.test('nobody sets what he may not set', async (t) => {
  const before = await rows();
  const keys = [
    ...['id', 'role', 'is_verified', 'email_verified_at', 'suspended_at', 'user_id', 'owner_id', 'store_id'],
    ...[
      'status',
      'created_at',
      'is_read',
      'deleted_at',
      'constructor',
      'prototype',
      'toString',
      '$where',
      '',
    ],
  ];
  for (const operation of withBody) {
    const body = validBodies[operation.operationId];
    for (const key of keys.filter(
      (one) => !(one in Object(body)) || one === 'constructor' || one === 'toString',
    )) {
      const answer = await send(operation, { body: JSON.stringify({ ...body, [key]: 1 }), headers: json });
      conforms(t, operation, answer, key);
      t.ok(answer.status === 400, `${operation.operationId} ${key}: ${answer.text}`);
    }
    for (const key of ['__proto__', 'constructor']) {
      const text = JSON.stringify(body).replace(
        '{',
        `{"${key}":{"prototype":{"role":"admin"},"role":"admin"},`,
      );
      const answer = await send(operation, { body: text, headers: json });
      conforms(t, operation, answer, key);
      t.equal(answer.status, 400, `${operation.operationId} ${key}: ${answer.text}`);
    }
  }
  t.strictSame(await rows(), before);
  t.equal(Object.hasOwn(Object.prototype, 'role'), false);
});

t.test('bodies that are none', async (t) => {
  const bodies: [string | Buffer, number, string][] = [
    ['{', 400, 'malformed_json'],
    ['{"a":1}{"b":2}', 400, 'malformed_json'],
    ['{"a":0x10}', 400, 'malformed_json'],
    [`${'['.repeat(20_000)}`, 400, 'malformed_json'],
    [`{"a":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_001)}`, 400, 'malformed_json'],
    [Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400, 'malformed_json'],
    [`{"a":"${'x'.repeat(3_000_000)}"}`, 413, 'payload_too_large'],
  ];
  const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
  const others = ['application/xml', 'application/json; charset=utf-16', 'application/json-patch+json', 'x'];
  for (const operation of withBody) {
    for (const [body, status, code] of bodies) {
      const answer = await send(operation, { body, headers: json });
      conforms(t, operation, answer, code);
      refused(t, answer, status, code);
    }
    for (const type of [...types, ...others]) {
      const answer = await send(operation, { body: 'a=b', headers: { 'content-type': type } });
      conforms(t, operation, answer, type);
      refused(t, answer, 415, 'unsupported_media_type');
    }
  }
});

t.test('parameters of a query', async (t) => {
  const wrong = ['%00', 'a%00b', '%ff', '%ED%A0%80', 'a%E2%80%AEb', 'a%E2%80%8Bb', '%1B', 'x'.repeat(5_000)];
  const wrongIntegers = ['0x10', '1e3', '1.0', '+1', '%201', '-1', '1_000', 'NaN', '9'.repeat(40), ''];
  for (const operation of operations) {
    for (const { name, schema } of (operation.parameters ?? []).filter((one) => one.in === 'query')) {
      const values = [...wrong, ...(schema.type === 'integer' ? wrongIntegers : [])];
      const queries = [
        ...values.map((value) => `?${name}=${value}`),
        `?${name}=1&${name}=1`,
        `?${name}[]=1&${name}[]=2`,
        `?${name}[gt]=1`,
        `?${name}[__proto__][x]=1`,
      ];
      for (const query of queries) {
        const answer = await send(operation, { query });
        conforms(t, operation, answer, query.slice(0, 60));
        const bracketed = query.includes('[');
        if (!bracketed) t.equal(answer.status, 400, `${operation.operationId} ${query.slice(0, 60)}`);
      }
    }
    for (const query of [
      '?__proto__=1',
      '?constructor.prototype=1',
      '?a=%',
      '?%00=1',
      `?${'a=1&'.repeat(2_000)}`,
    ]) {
      if (operation.operationId !== 'streamNotifications' && operation.method === 'GET') {
        conforms(t, operation, await send(operation, { query }), query.slice(0, 60));
      }
    }
  }
});

t.test('ids in a path', async (t) => {
  const wrong = [
    ...['0', '-1', '1.0', '1e3', '0x10', '01', '+1', '%20', 'NaN', '9'.repeat(40), '9223372036854775808'],
    ...['2147483648', '9999999999'],
    ...['%00', '%ff', '%2e%2e', '1%2f2', '1;x', "1'--", '%E2%80%AE1', '[object Object]', '__proto__', '١'],
  ];
  const withId = operations.filter(({ path }) => path.includes('{'));
  t.ok(withId.length >= 8);
  for (const operation of withId) {
    for (const id of wrong) {
      const path = operation.path.replace(/\{\w+\}/, id.includes('%') ? id : encodeURI(id));
      const answer = await send(operation, { path, body: validBodies[operation.operationId] });
      refused(t, answer, 404, answer.body?.data?.code);
      t.match(answer.body?.data?.code, /_not_found$|^not_found$/, `${operation.operationId} ${id}`);
    }
  }
});

t.test('other methods, on every path', async (t) => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'];
  for (const operation of operations) {
    const allowed = operations.filter(({ path }) => path === operation.path).map(({ method }) => method);
    for (const method of methods.filter((one) => !allowed.includes(one))) {
      const answer = await app.call(method, pathOf(operation), { token: shop.token });
      refused(t, answer, 405, 'method_not_allowed');
    }
  }
});

t.test('paths that only look like those of an operation lead nowhere', async (t) => {
  const port = await listen(app.app);
  const variants = (path: string) => [
    `/${path}`,
    `${path};x`,
    `${path}/`,
    path.toUpperCase(),
    path.replace(/\/$/, '%2f'),
    path.replace(/\/$/, '%00/'),
    path.replace(/\/$/, '/./'),
    path.replace(/^\/(\w+)\//, '/$1/../$1/'),
    path.replaceAll('/', '\\'),
  ];
  for (const operation of operations) {
    for (const target of variants(pathOf(operation))) {
      const body = JSON.stringify(validBodies[operation.operationId] ?? {});
      const head = [
        `${operation.method} ${target} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${shop.token}`,
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Connection: close',
      ];
      const answer = await rawCall(port, `${head.join('\r\n')}\r\n\r\n${body}`);
      // An odd last part may be an id that no resource has, on a path that has other methods.
      refused(t, answer, answer.status, answer.body?.data?.code);
      const code =
        /^(?:not_found|(?:store|post|session|partner_request)_not_found|method_not_allowed|malformed_request)$/;
      t.match(answer.body?.data?.code, code, `${operation.method} ${target}`);
    }
  }
});

t.test('a path that is spelled another way is as closed as the one it means', async (t) => {
  for (const path of ['/auth/%6de/', '/%61uth/me/', '/auth/me', '/api/%761/stores/me/']) {
    const answer = await app.call('GET', path);
    t.ok([401, 404].includes(answer.status), `${path} ${answer.status}`);
  }
});

/** Short texts with much in them that no text may hold. */
const oddText = fc.string({
  unit: fc.constantFrom('a', '1', '가', '\u0000', '\ud800'),
  minLength: 1,
  maxLength: 4,
});

const anything = fc.oneof(
  { arbitrary: oddText, weight: 3 },
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.double(),
  fc.integer(),
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(fc.oneof(fc.integer(), fc.string(), fc.webUrl()), { maxLength: 12 }),
);

t.test('whatever is sent, the answer is one of the documented ones', async (t) => {
  for (const operation of withBody) {
    const fields = fieldsOf(operation);
    // With all else right, what is wrong with one field alone comes as far as it can.
    const almostRight = fc
      .tuple(fc.constantFrom(...fields), anything)
      .map(([[name, , body], value]) => ({ ...body, [name]: value }));
    const random = fields.map(([name, value]) => [name, fc.oneof(fc.constant(value), anything)] as const);
    const anyFields = fc.record(Object.fromEntries(random), { requiredKeys: [] });
    const bodies = fc.oneof({ arbitrary: almostRight, weight: 3 }, anyFields, fc.jsonValue());
    const requests = bodies.map((body) => ({ body: JSON.stringify(body), headers: json }));
    await explore(operation, requests, 40);
    t.pass(operation.operationId);
  }
});

t.test('whatever a query asks, the answer is one of the documented ones', async (t) => {
  for (const operation of operations.filter(({ parameters = [] }) =>
    parameters.some((one) => one.in === 'query'),
  )) {
    const names = (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name);
    const values = [oddText, fc.string({ unit: 'binary' }), fc.integer().map(String), fc.constant('true')];
    const pair = fc.tuple(fc.constantFrom(...names), fc.oneof(...values));
    const requests = fc.uniqueArray(pair, { maxLength: 3, selector: ([name]) => name }).map((pairs) => ({
      query: `?${pairs.map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`).join('&')}`,
    }));
    await explore(operation, requests, 60);
    t.pass(operation.operationId);
  }
});

t.test('after all this the service works, and nothing unexpected is in its log', async (t) => {
  t.equal((await app.call('GET', '/auth/me/', { token: shop.token })).status, 200);
  noErrorLogged(t, app.logs);
});

/** Everything beside `detail` and `code`. */
function dataOf({ body }: Answer): Record<string, unknown> {
  const { detail: _, code: __, ...rest } = body?.data ?? {};
  return rest;
}
