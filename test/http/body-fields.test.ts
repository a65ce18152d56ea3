import t from 'tap';
import { noErrorLogged } from '../support/assertions.ts';
import {
  bodiesOf,
  bodySchemas,
  createOperationsApp,
  fieldsOf,
  notInvalid,
  operationsWithBody,
  problemsOf,
  resolve,
  type Schema,
  validBody,
} from './operations.ts';

/*
 * The rules that every field of every body has, read from the OpenAPI document. Rules of one field alone are tested with its
 * domain.
 */

/** A wrong value, and how the refusal names it. */
interface WrongValue {
  value: unknown;
  name: string;
}

const { app, shop, send } = await createOperationsApp(t);
const json = { 'content-type': 'application/json' };

/** Fields that may have several lines. */
const multiline = ['content', 'description', 'message', 'text', 'note', 'reason'];

const notStrings = [null, true, 0, 1.5, [], ['text'], {}, { $ne: null }, { contains: '' }, { set: 'x' }];
const notIntegers = [null, true, '1', '', '0x10', 1.5, [1], {}, { $gt: 0 }];
const notBooleans = [null, 'true', '', 0, 1, [true], {}];
const notObjects = [null, true, 1, 'text', []];
const notArrays = [null, true, 1, 'text', {}, { 0: 1, length: 1 }];
const outOfRange = [-1, -1e308, 2 ** 53, 1e21, Number.MAX_VALUE];

const refusedInSecrets = {
  NUL: 'a\u0000b-cdefgh',
  'a control character': 'a\u0007b-cdefgh',
  'a line feed': 'a\nb-cdefgh',
  'an escape': 'ab-cdefgh\u001b[31m',
  'a C1 control': 'a\u0085b-cdefgh',
  'a high surrogate': 'ab-cdefgh\ud800',
  'a low surrogate': '\udc00ab-cdefgh',
  'stacked marks': `ab-cdefgh${'\u0301'.repeat(31)}`,
};
const refusedTexts = {
  ...refusedInSecrets,
  'a direction override': 'a\u202eb',
  'a direction isolate': 'a\u2066b',
  'a zero-width space': 'a\u200bb',
  'a byte order mark': 'a\ufeffb',
  blank: '\u3164',
};

function wrongValues(field: Schema, name: string): WrongValue[] {
  const as = (values: unknown[]) => values.map((value) => ({ value, name }));
  if (field.type === 'string') return as([...notStrings, ...wrongTexts(field, name)]);
  if (field.type === 'integer') {
    const { minimum = 0, maximum = 0 } = field;
    return as([...notIntegers, ...outOfRange, minimum - 1, maximum + 1]);
  }
  if (field.type === 'boolean') return as(notBooleans);
  if (field.type === 'object') return [...as(notObjects), ...wrongProperties(field, name)];
  const { items = {}, minItems = 0, maxItems = 0, uniqueItems = false } = field;
  const item = items.type === 'integer' ? 1 : 'https://cdn.example.com/1.jpg';
  const distinct = (_: unknown, index: number) =>
    uniqueItems && typeof item === 'number' ? index + 1 : item;
  return [
    ...as(notArrays),
    ...as([Array.from({ length: maxItems + 1 }, distinct)]),
    ...as(minItems > 0 ? [Array.from({ length: minItems - 1 }, distinct)] : []),
    ...as(uniqueItems ? [[item, item]] : []),
    ...wrongValues(items, `/${name}/0`).map((wrong) => ({ ...wrong, value: [wrong.value] })),
  ];
}

/** Values of an object with one wrong property. */
function wrongProperties({ properties = {}, minProperties = 0 }: Schema, name: string): WrongValue[] {
  const wrong = Object.entries(properties).flatMap(([inner, field]) =>
    wrongValues(resolve(field), `/${name}/${inner}`).map(({ value, name: refused }) => ({
      value: { [inner]: value },
      name: refused,
    })),
  );
  return [...wrong, ...(minProperties > 0 ? [{ value: {}, name }] : [])];
}

function wrongTexts({ format, pattern, minLength = 0, maxLength }: Schema, name: string): string[] {
  const texts = format === 'password' ? refusedInSecrets : refusedTexts;
  const { 'a line feed': _, ...ofBlocks } = refusedTexts;
  return [
    ...Object.values(multiline.includes(name) ? ofBlocks : texts),
    ...(minLength > 0 ? ['', 'x'.repeat(minLength - 1)] : []),
    ...(minLength > 0 && format !== 'password' ? ['   ', '\n'] : []),
    ...(pattern === undefined ? [] : ['!'.repeat(Math.max(1, minLength)), '가나다라마바']),
    ...(format === 'email' ? ['plain', 'a@b', 'a b@c.kr', 'a@b..com', '@example.com'] : []),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1), '😀'.repeat(maxLength + 1)]),
  ];
}

t.test('the walk covers every operation with a body, and every field', async (t) => {
  for (const operation of operationsWithBody) {
    const walked = new Set(bodiesOf(operation).flatMap((body) => Object.keys(body)));
    t.strictSame(
      [...walked].sort(),
      fieldsOf(operation)
        .map(({ name }) => name)
        .sort(),
    );
    const { text } = await send(operation, { body: validBody(operation) });
    t.notMatch(text, '"code":"validation_error"', `${operation.operationId} has a valid body`);
  }
});

t.test('a field refuses other types, lengths, ranges and characters', async (t) => {
  for (const operation of operationsWithBody) {
    for (const { name, field, body } of fieldsOf(operation)) {
      const problems: string[] = [];
      for (const wrong of wrongValues(resolve(field), name)) {
        const answer = await send(operation, { body: { ...body, [name]: wrong.value } });
        const about = JSON.stringify(wrong.value)?.slice(0, 60);
        problems.push(...notInvalid(operation, answer, wrong.name).map((problem) => `${about} ${problem}`));
      }
      t.strictSame(problems, [], `${operation.operationId} ${name}`);
    }
  }
});

t.test('a number beyond what JSON can hold is refused', async (t) => {
  for (const operation of operationsWithBody) {
    for (const { name, field, body } of fieldsOf(operation)) {
      const isList = field.type === 'array';
      if ((isList ? field.items?.type : field.type) !== 'integer') continue;
      for (const number of ['1e400', '-0', '9007199254740992']) {
        const value = isList ? ['@'] : '@';
        const text = JSON.stringify({ ...body, [name]: value }).replace('"@"', number);
        const answer = await send(operation, { body: text, headers: json });
        t.strictSame(notInvalid(operation, answer, isList ? `/${name}/0` : name), [], number);
      }
    }
  }
});

t.test('a text takes as many characters as documented, however many code units they have', async (t) => {
  for (const operation of operationsWithBody) {
    for (const { name, field, body } of fieldsOf(operation)) {
      const { type, format, pattern, maxLength } = resolve(field);
      if (type !== 'string' || maxLength === undefined || format || pattern || name === 'phone_number')
        continue;
      const answer = await send(operation, { body: { ...body, [name]: '😀'.repeat(maxLength) } });
      t.notOk(answer.body?.data?.fields, `${operation.operationId} ${name}: ${answer.text}`);
      t.strictSame(problemsOf(operation, answer), []);
    }
  }
});

t.test('a missing field is named, alone and together with the others', async (t) => {
  for (const operation of operationsWithBody) {
    for (const [index, { required = [], minProperties }] of bodySchemas(operation).entries()) {
      const body = bodiesOf(operation)[index];
      for (const name of bodySchemas(operation).length > 1 ? [] : required) {
        const answer = await send(operation, { body: { ...body, [name]: undefined } });
        t.strictSame(notInvalid(operation, answer, name), [], `${operation.operationId} ${name}`);
      }
      if (operation.requestBody?.required === false) continue;
      const all = bodySchemas(operation).flatMap((schema) => schema.required ?? []);
      for (const options of [{ body: {} }, {}]) {
        const answer = await send(operation, options);
        const names = Object.keys(answer.body?.data?.fields ?? {});
        // A body in one of two forms may name the fields of the first one only.
        const [first = []] = bodySchemas(operation).map((schema) => [...(schema.required ?? [])].sort());
        const expected = names.length === first.length ? first : all.sort();
        t.strictSame(names.sort(), minProperties ? ['body'] : expected, operation.operationId);
      }
    }
  }
});

t.test('a body that is not an object is refused as `body`', async (t) => {
  for (const operation of operationsWithBody) {
    for (const body of ['null', '[]', '"text"', '""', '1', 'true', '[{"username":"a"}]']) {
      const answer = await send(operation, { body, headers: json });
      t.strictSame(notInvalid(operation, answer, 'body'), [], `${operation.operationId} ${body}`);
    }
  }
});

/** What a request could change without permission. */
async function protectedRows(): Promise<unknown> {
  const { rows } = await app.pool.query(`
    SELECT (SELECT json_agg(u ORDER BY id) FROM (SELECT id, username, email, role, is_verified, suspended_at FROM users) u) AS users,
      (SELECT json_agg(s ORDER BY id) FROM (SELECT id, owner_id, created_at FROM stores) s) AS stores,
      (SELECT json_agg(p ORDER BY id) FROM (SELECT id, store_id, created_at, deleted_at FROM posts) p) AS posts`);
  return rows;
}

t.test('an unknown field is refused by name and changes nothing', async (t) => {
  const before = await protectedRows();
  const columns = ['id', 'role', 'is_verified', 'suspended_at', 'user_id', 'owner_id', 'store_id', 'status'];
  const odd = ['created_at', 'deleted_at', 'thumbnail', 'Name', 'a/b', 'a~b', '한글', ' ', '$where', ''];
  const inherited = ['constructor', 'prototype', 'toString'];
  for (const operation of operationsWithBody) {
    const problems: string[] = [];
    for (const key of [...columns, ...odd, ...inherited]) {
      const body = JSON.stringify({ ...validBody(operation), [key]: 1 });
      const answer = await send(operation, { body, headers: json });
      problems.push(...notInvalid(operation, answer, key).map((problem) => `${key} ${problem}`));
    }
    for (const key of ['__proto__', 'constructor']) {
      const body = JSON.stringify(validBody(operation)).replace(
        '{',
        `{"${key}":{"prototype":{"role":"admin"},"role":"admin"},`,
      );
      const answer = await send(operation, { body, headers: json });
      if (answer.body?.data?.code !== 'malformed_json') problems.push(`${key}: ${answer.text}`);
    }
    t.strictSame(problems, [], operation.operationId);
  }
  t.strictSame(await protectedRows(), before);
  t.equal(Object.hasOwn(Object.prototype, 'role'), false);
});

t.test('the service still works, and no error was logged', async (t) => {
  t.equal((await app.call('GET', '/auth/me/', { token: shop.token })).status, 200);
  noErrorLogged(t, app.logs);
});
