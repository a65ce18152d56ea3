import t from 'tap';
import { noErrorLogged, refused } from '../support/assertions.ts';
import type { DocumentedOperation } from '../support/contract.ts';
import { listen, rawCall } from '../support/raw-http.ts';
import { createOperationsApp, notInvalid, operations, problemsOf, validBody } from './operations.ts';

/*
 * The rules that every query parameter, path id, method and path has, for every operation of the OpenAPI document.
 */

const { app, shop, send, pathOf, tokenFor } = await createOperationsApp(t);

const notIntegers = [
  ...['0x10', '1e3', '1.0', '1.5', '+1', '%2B1', '%201', '1%20', '01', '1_000', 'abc', 'NaN', 'null', 'true'],
  ...['%EF%BC%91', '1%00', '1,2', '[1]', '-0', '-1', '9'.repeat(20), '9'.repeat(40)],
];
const notBooleans = ['1', '0', 'TRUE', 'yes', 'null'];
const refusedTexts = ['%00', 'a%00b', 'a%E2%80%AEb', 'a%E2%80%8Bb', '%1B'];
const notCursors = ['x', '!!!', 'null', '%EC%BB%A4', 'bm90IGEgY3Vyc29y', 'MV8w', 'x'.repeat(300)];
const notUtf8 = ['%', '%zz', '%ff%fe', '%ED%A0%80'];

type Parameter = NonNullable<DocumentedOperation['parameters']>[number];

function queryParameters({ parameters = [] }: DocumentedOperation): Parameter[] {
  return parameters.filter((one) => one.in === 'query');
}

/** Values that a parameter refuses by its schema. */
function wrongValues({ schema, required }: Parameter): string[] {
  const { type, minimum, maximum, maxLength } = schema;
  if (type === 'integer') return [...notIntegers, String(Number(minimum) - 1), String(Number(maximum) + 1)];
  if (type === 'boolean') return notBooleans;
  if ('enum' in schema) return ['other', ...refusedTexts];
  const tooLong = typeof maxLength === 'number' ? ['x'.repeat(maxLength + 1)] : [];
  return [...refusedTexts, ...tooLong, ...(required ? [''] : [])];
}

/** A query with one value, and a valid one for each other parameter that is required. */
function queryWith(operation: DocumentedOperation, name: string, ...values: string[]): string {
  const others = queryParameters(operation).filter((one) => one.required && one.name !== name);
  return `?${[...values.map((value) => `${name}=${value}`), ...others.map((one) => `${one.name}=x`)].join('&')}`;
}

t.test('a query parameter refuses other types, ranges, lengths, characters and repetition', async (t) => {
  for (const operation of operations) {
    for (const parameter of queryParameters(operation)) {
      const { name } = parameter;
      const check = async (query: string, field: string) =>
        notInvalid(operation, await send(operation, { query }), field).map((one) => `${query} ${one}`);
      const problems = [
        ...(await check(queryWith(operation, name, '1', '1'), name)),
        ...(name === 'cursor' || !parameter.required ? [] : await check(queryWith(operation, name), name)),
      ];
      for (const text of notUtf8) problems.push(...(await check(queryWith(operation, name, text), 'query')));
      for (const value of name === 'cursor' ? [] : wrongValues(parameter))
        problems.push(...(await check(queryWith(operation, name, value), name)));
      t.strictSame(problems, [], `${operation.operationId} ${name}`);
    }
  }
});

t.test('an empty parameter is as if it were not there', async (t) => {
  for (const operation of operations) {
    const [required, optional] = [true, false].map((wanted) =>
      queryParameters(operation).filter((one) => (one.required ?? false) === wanted),
    );
    for (const { name } of required ?? []) {
      const answer = await send(operation, { query: queryWith(operation, name, '') });
      t.match(
        answer.body.data.errors,
        [{ field: name, code: 'required' }],
        `${operation.operationId} ${name}`,
      );
    }
    if (optional === undefined || optional.length === 0 || (required ?? []).length > 0) continue;
    const answer = await send(operation, { query: `?${optional.map(({ name }) => `${name}=`).join('&')}` });
    t.equal(answer.status, 200, `${operation.operationId} ${answer.text}`);
  }
});

t.test('an unknown parameter is refused by name', async (t) => {
  for (const operation of operations) {
    for (const name of ['unknown', 'Limit', '__proto__', 'constructor', '_']) {
      const others = queryParameters(operation).filter((one) => one.required);
      const query = `?${[`${name}=1`, ...others.map((one) => `${one.name}=x`)].join('&')}`;
      const answer = await send(operation, { query, body: validBody(operation) });
      t.strictSame(notInvalid(operation, answer, name), [], `${operation.operationId} ${query}`);
      t.equal(answer.body?.data?.errors?.[0]?.code, 'unknown_field');
    }
  }
});

t.test('a cursor that was not issued is invalid_cursor', async (t) => {
  const lists = operations.filter((one) => queryParameters(one).some(({ name }) => name === 'cursor'));
  t.ok(lists.length >= 4);
  for (const operation of lists) {
    for (const cursor of [...notCursors, ...refusedTexts]) {
      const answer = await send(operation, { query: `?cursor=${cursor}` });
      t.strictSame(problemsOf(operation, answer), [], `${operation.operationId} ${cursor}`);
      refused(t, answer, 400, 'invalid_cursor');
    }
    const both = await send(operation, { query: '?cursor=x&limit=0' });
    t.strictSame(notInvalid(operation, both, 'limit'), [], 'validation comes before the cursor');
  }
});

t.test('an odd query string gets a documented answer', async (t) => {
  const odd = ['?__proto__=1', '?constructor.prototype=1', '?a=%', '?%00=1', `?${'a=1&'.repeat(400)}`];
  const gets = operations.filter(
    ({ method, operationId }) => method === 'GET' && operationId !== 'streamNotifications',
  );
  for (const operation of gets) {
    const brackets = queryParameters(operation).flatMap(({ name }) => [`?${name}[]=1`, `?${name}[gt]=1`]);
    for (const query of [...odd, ...brackets]) {
      const answer = await send(operation, { query });
      t.strictSame(problemsOf(operation, answer), [], `${operation.operationId} ${query.slice(0, 40)}`);
    }
  }
});

t.test('a path id that cannot exist is the 404 of its resource', async (t) => {
  const impossible = [
    ...['0', '-1', '1.0', '1.5', '1e3', '0x10', '01', '+1', '%201', '1%20', 'NaN', 'me2', '%EA%B0%80', '١'],
    ...['2147483648', '9999999999', '9223372036854775808', '9'.repeat(40), 'a'.repeat(300)],
    ...['%00', '%ff', '%2e%2e', '1%2f2', '1;x', "1'--", "'%20OR%201=1--", '%E2%80%AE1', '__proto__'],
  ];
  const withId = operations.filter(({ path }) => path.includes('{'));
  t.ok(withId.length >= 8);
  for (const operation of withId) {
    const problems: string[] = [];
    const [, resource] = /\{(\w+?)(?:_id)?\}/.exec(operation.path) ?? [];
    const isOfAdmins = operation.path.startsWith('/api/v1/admin/');
    const code = isOfAdmins ? 'not_found' : `${resource === 'id' ? 'partner_request' : resource}_not_found`;
    for (const id of [...impossible, '2147483647']) {
      const path = operation.path.replace(/\{\w+\}/, id.includes('%') ? id : encodeURI(id));
      const answer = await send(operation, { path, body: validBody(operation) });
      const expected = ['1%2f2', '%2e%2e'].includes(id) ? /not_found$/ : new RegExp(`^${code}$`);
      if (answer.status !== 404 || !expected.test(answer.body?.data?.code))
        problems.push(`${id}: ${answer.text}`);
    }
    t.strictSame(problems, [], operation.operationId);
  }
});

t.test('every other method is method_not_allowed', async (t) => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'];
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const ofPath = operations.filter((operation) => operation.path === path);
    const [operation] = ofPath;
    if (!operation) continue;
    const allowed = ofPath.map(({ method }) => method);
    for (const method of methods.filter((one) => !allowed.includes(one))) {
      const answer = await app.call(method, pathOf(operation), { token: tokenFor(path) });
      refused(t, answer, 405, 'method_not_allowed');
    }
  }
});

t.test('an Idempotency-Key is 1-255 visible ASCII characters', async (t) => {
  const withKey = operations.filter(({ parameters = [] }) =>
    parameters.some(({ name }) => name === 'Idempotency-Key'),
  );
  t.ok(withKey.length >= 4);
  const wrong = ['', ' ', 'a b', 'x'.repeat(256), 'caf\u00e9', '열쇠', '\u007f', 'a\tb'];
  for (const operation of withKey) {
    const body = validBody(operation);
    for (const key of wrong) {
      const answer = await send(operation, { body, headers: { 'idempotency-key': key } });
      t.strictSame(notInvalid(operation, answer, 'idempotency-key'), [], `${operation.operationId} ${key}`);
    }
    for (const key of ['a', '!'.repeat(255), '"quoted"', '{~}']) {
      const { text } = await send(operation, { body, headers: { 'idempotency-key': key } });
      t.notMatch(text, 'validation_error', `${operation.operationId} ${key}`);
    }
  }
});

t.test('an operation that needs a login refuses a request without one, before validation', async (t) => {
  const withLogin = operations.filter(
    ({ security = [] }) => security.length > 0 && security.every((one) => 'bearer' in one),
  );
  t.ok(withLogin.length >= 20);
  for (const operation of withLogin) {
    const body = operation.requestBody ? { unknown: 1 } : undefined;
    refused(t, await app.call(operation.method, pathOf(operation), { body }), 401, 'not_authenticated');
    const wrong = await app.call(operation.method, `${pathOf(operation)}?limit=x`, { body, token: 'x' });
    t.match(wrong, { status: 401, body: { data: { code: 'token_not_valid', reason: 'malformed' } } });
  }
});

t.test('a path that only resembles that of an operation does not reach it', async (t) => {
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
  // An odd last part may be read as an id that nothing has, on a path that has other methods.
  const unreached =
    /^(?:not_found|(?:store|post|session|partner_request|image)_not_found|method_not_allowed|malformed_request)$/;
  for (const operation of operations) {
    const problems: string[] = [];
    for (const target of variants(pathOf(operation))) {
      const body = JSON.stringify(validBody(operation) ?? {});
      const head = [
        `${operation.method} ${target} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${tokenFor(operation.path)}`,
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Connection: close',
      ];
      const answer = await rawCall(port, `${head.join('\r\n')}\r\n\r\n${body}`);
      if (!unreached.test(answer.body?.data?.code)) problems.push(`${target}: ${answer.text}`);
    }
    t.strictSame(problems, [], operation.operationId);
  }
});

t.test('a path spelled in another way needs the same login', async (t) => {
  for (const path of ['/auth/%6de/', '/%61uth/me/', '/auth/me', '/api/%761/stores/me/']) {
    const answer = await app.call('GET', path);
    t.ok([401, 404].includes(answer.status), `${path} ${answer.status}`);
  }
});

t.test('the service still works, and no error was logged', async (t) => {
  t.equal((await app.call('GET', '/auth/me/', { token: shop.token })).status, 200);
  noErrorLogged(t, app.logs);
});
