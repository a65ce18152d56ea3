import t from 'tap';
import {
  createOperationsApp,
  eachOperation,
  eachValue,
  isToken,
  notInvalid,
  notRejected,
  operations,
  validBody,
} from '../../http/operations.ts';
import type { DocumentedOperation, DocumentedParameter } from '../../support/contract.ts';
import { listen, rawCall, rawRequest } from '../../support/raw-http.ts';

/*
 * The rules that every query parameter, path id, method and path has, for every operation of the OpenAPI document.
 */

const { app, send, pathOf, tokenFor } = await createOperationsApp();

const notIntegers = [
  ...['0x10', '1e3', '1.0', '1.5', '+1', '%2B1', '%201', '1%20', '01', '1_000', 'abc', 'NaN', 'null', 'true'],
  ...['%EF%BC%91', '1%00', '1,2', '[1]', '-0', '-1', '9'.repeat(20), '9'.repeat(40)],
];
const notBooleans = ['1', '0', 'TRUE', 'yes', 'null'];
const rejectedTexts = ['%00', 'a%00b', 'a%E2%80%AEb', 'a%E2%80%8Bb', '%1B'];
const notCursors = ['x', '!!!', 'null', '%EC%BB%A4', 'bm90IGEgY3Vyc29y', 'MV8w', 'x'.repeat(300)];
const notUtf8 = ['%', '%zz', '%ff%fe', '%ED%A0%80'];

function queryParameters({ parameters = [] }: DocumentedOperation): DocumentedParameter[] {
  return parameters.filter((one) => one.in === 'query');
}

/** Values that a parameter rejects by its schema. */
function wrongValues({ name, schema, required }: DocumentedParameter): string[] {
  const { type, minimum, maximum, maxLength } = schema;
  if (type === 'integer') return [...notIntegers, String(Number(minimum) - 1), String(Number(maximum) + 1)];
  if (type === 'boolean') return notBooleans;
  if ('enum' in schema) return ['other', ...rejectedTexts];
  const tooLong = typeof maxLength === 'number' && !isToken(name) ? ['x'.repeat(maxLength + 1)] : [];
  // A token that may be empty has an error of its own, whatever is wrong with it.
  const isOpaque = isToken(name) && !('minLength' in schema);
  return [...(isOpaque ? [] : rejectedTexts), ...tooLong, ...(required ? [''] : [])];
}

/** A query with some parameters, and a valid value for each other one that is required. */
function queryWith(operation: DocumentedOperation, ...given: [name: string, value: string][]): string {
  const names = given.map(([name]) => name);
  const others = queryParameters(operation).filter((one) => one.required && !names.includes(one.name));
  const pairs = [...given, ...others.map(({ name }) => [name, 'x'])];
  return `?${pairs.map((pair) => pair.join('=')).join('&')}`;
}

const withQuery = operations.filter((operation) => queryParameters(operation).length > 0);

t.test('a query parameter rejects other types, ranges, lengths, characters and repetition', (t) =>
  eachOperation(t, withQuery, 12, (operation) =>
    eachValue(queryParameters(operation), async (parameter) => {
      const { name } = parameter;
      const check = (values: string[], field: string) =>
        eachValue(values, async (value) => {
          const query = queryWith(operation, [name, value]);
          return notInvalid(await send(operation, { query }), field);
        });
      const twice = queryWith(operation, [name, '1'], [name, '1']);
      const without = queryWith(operation).replace(new RegExp(`${name}=x&?`), '');
      return [
        ...notInvalid(await send(operation, { query: twice }), name),
        ...(parameter.required ? notInvalid(await send(operation, { query: without }), name) : []),
        ...(await check(notUtf8, 'query')),
        ...(name === 'cursor' ? [] : await check(wrongValues(parameter), name)),
      ];
    }),
  ),
);

t.test('an empty parameter is as if it were not there', (t) =>
  eachOperation(t, withQuery, 12, async (operation) => {
    const required = queryParameters(operation).filter((one) => one.required);
    const problems = await eachValue(required, async ({ name }) => {
      const response = await send(operation, { query: queryWith(operation, [name, '']) });
      const [error] = response.body.data.errors ?? [];
      return error?.field === name && error.code === 'required' ? [] : [response.text];
    });
    if (required.length > 0) return problems;
    const query = `?${queryParameters(operation)
      .map(({ name }) => `${name}=`)
      .join('&')}`;
    const response = await send(operation, { query });
    return response.status === 200 ? [] : [response.text];
  }),
);

t.test('an unknown parameter is rejected by name', (t) =>
  eachOperation(t, operations, 60, (operation) => {
    const brackets = queryParameters(operation).flatMap(({ name }) => [`${name}[]`, `${name}[gt]`]);
    const names = ['unknown', 'Limit', '__proto__', 'constructor', 'constructor.prototype', '_', '%00'];
    return eachValue([...names, ...brackets], async (name) => {
      const query = queryWith(operation, [name, '1']);
      const response = await send(operation, { query, body: validBody(operation) });
      const isUnknown = response.body?.data?.errors?.[0]?.code === 'unknown_field';
      return [...notInvalid(response, decodeURIComponent(name)), ...(isUnknown ? [] : [response.text])];
    });
  }),
);

const lists = withQuery.filter((one) => queryParameters(one).some(({ name }) => name === 'cursor'));

t.test('a cursor that was not issued is invalid_cursor', (t) =>
  eachOperation(t, lists, 9, async (operation) => [
    ...(await eachValue([...notCursors, ...rejectedTexts], async (cursor) => {
      const response = await send(operation, { query: `?cursor=${cursor}` });
      return notRejected(response, 400, 'invalid_cursor');
    })),
    // Validation comes before the cursor.
    ...notInvalid(await send(operation, { query: '?cursor=x&limit=0' }), 'limit'),
  ]),
);

t.test('a path id that cannot exist is the 404 of its resource', async (t) => {
  const impossible = [
    ...['0', '-1', '1.0', '1.5', '1e3', '0x10', '01', '+1', '%201', '1%20', 'NaN', 'me2', '%EA%B0%80', '١'],
    ...['2147483648', '9999999999', '9223372036854775808', '9'.repeat(40), 'a'.repeat(300)],
    ...['%00', '%ff', '%2e%2e', '1%2f2', '1;x', "1'--", "'%20OR%201=1--", '%E2%80%AE1', '__proto__'],
  ];
  const withId = operations.filter(({ path }) => path.includes('{'));
  await eachOperation(t, withId, 19, (operation) => {
    const [, resource] = /\{(\w+?)(?:_id)?\}/.exec(operation.path) ?? [];
    const isOfAdmins = operation.path.startsWith('/api/v1/admin/');
    const code = isOfAdmins ? 'not_found' : `${resource === 'id' ? 'partner_request' : resource}_not_found`;
    return eachValue([...impossible, '2147483647'], async (id) => {
      const path = operation.path.replace(/\{\w+\}/, id.includes('%') ? id : encodeURI(id));
      const { status, body, text } = await send(operation, { path, body: validBody(operation) });
      const expected = ['1%2f2', '%2e%2e'].includes(id) ? /not_found$/ : new RegExp(`^${code}$`);
      return status === 404 && expected.test(body?.data?.code) ? [] : [text];
    });
  });
});

t.test('every other method is method_not_allowed', async (t) => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'];
  const allowedAt = (path: string) =>
    operations.filter((one) => one.path === path).map(({ method }) => method);
  await eachOperation(t, operations, 60, (operation) => {
    const others = methods.filter((method) => !allowedAt(operation.path).includes(method));
    return eachValue(others, async (method) => {
      const options = { token: tokenFor(operation.path) };
      const { status, body, text } = await app.call(method, pathOf(operation), options);
      return status === 405 && body.data.code === 'method_not_allowed' ? [] : [text];
    });
  });
});

t.test('an Idempotency-Key is 1-255 visible ASCII characters', async (t) => {
  const withKey = operations.filter(({ parameters = [] }) =>
    parameters.some(({ name }) => name === 'Idempotency-Key'),
  );
  const wrong = ['', ' ', 'a b', 'x'.repeat(256), 'caf\u00e9', '열쇠', '\u007f', 'a\tb'];
  await eachOperation(t, withKey, 4, async (operation) => {
    const sendWith = (key: string) =>
      send(operation, { body: validBody(operation), headers: { 'idempotency-key': key } });
    return [
      ...(await eachValue(wrong, async (key) => notInvalid(await sendWith(key), 'idempotency-key'))),
      ...(await eachValue(['a', '!'.repeat(255), '"quoted"', '{~}'], async (key) => {
        const { text } = await sendWith(key);
        return text.includes('validation_error') ? [text] : [];
      })),
    ];
  });
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
    /^(?:not_found|(?:store|post|session|partner_request|image|passkey|identity|saved_search|subscription)_not_found|method_not_allowed|malformed_request)$/;
  await eachOperation(t, operations, 60, (operation) =>
    eachValue(variants(pathOf(operation)), async (target) => {
      const headers = { authorization: `Bearer ${tokenFor(operation.path)}`, connection: 'close' };
      const body = JSON.stringify(validBody(operation) ?? {});
      const response = await rawCall(port, rawRequest(operation.method, target, headers, body));
      return unreached.test(response.body?.data?.code) ? [] : [response.text];
    }),
  );
});

t.test('a path without its last slash is the same operation, and never redirects', (t) =>
  eachOperation(t, operations, 60, async (operation) => {
    const path = pathOf(operation);
    const options = { body: validBody(operation) };
    const slash = await app.call(operation.method, path, options);
    const without = await app.call(operation.method, path.slice(0, -1), options);
    const isSame = without.status === slash.status && without.body?.data?.code === slash.body?.data?.code;
    return [
      ...(isSame ? [] : [`${without.text} and ${slash.text}`]),
      ...(without.headers.location === undefined ? [] : ['redirects']),
    ];
  }),
);

t.test('a path spelled in another way needs the same login', async (t) => {
  for (const path of ['/auth/%6de/', '/%61uth/me/', '/auth/me', '/api/%761/stores/me/']) {
    const response = await app.call('GET', path);
    t.ok([401, 404].includes(response.status), `${path} ${response.status}`);
  }
});
