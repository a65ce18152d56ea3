import t from 'tap';
import {
  bodiesOf,
  bodySchemas,
  createOperationsApp,
  eachOperation,
  eachValue,
  fieldsOf,
  isToken,
  notInvalid,
  notRejected,
  operationsWithBody,
  type Resolved,
  resolve,
  validBody,
} from '../../http/operations.ts';

/*
 * The rules that every field of every body has, read from the OpenAPI document. Rules of one field alone are tested with its
 * domain.
 */

/** A wrong value, and how the error names it. */
interface WrongValue {
  value: unknown;
  name: string;
}

const { app, send } = await createOperationsApp();
const json = { 'content-type': 'application/json' };

/** Fields that may have several lines. */
const multiline = ['content', 'description', 'message', 'text', 'note', 'reason'];

const notStrings = [null, true, 0, 1.5, [], ['text'], {}, { $ne: null }, { contains: '' }, { set: 'x' }];
const notIntegers = [null, true, '1', '', '0x10', 1.5, [1], {}, { $gt: 0 }];
const notNumbers = [null, true, '1', '', [1], {}];
const notBooleans = [null, 'true', '', 0, 1, [true], {}];
const notObjects = [null, true, 1, 'text', []];
const notArrays = [null, true, 1, 'text', {}, { 0: 1, length: 1 }];
const outOfRange = [-1, -1e308, 2 ** 53, 1e21, Number.MAX_VALUE];

const rejectedInSecrets = {
  NUL: 'a\u0000b-cdefgh',
  'a control character': 'a\u0007b-cdefgh',
  'a line feed': 'a\nb-cdefgh',
  'an escape': 'ab-cdefgh\u001b[31m',
  'a C1 control': 'a\u0085b-cdefgh',
  'a high surrogate': 'ab-cdefgh\ud800',
  'a low surrogate': '\udc00ab-cdefgh',
  'stacked marks': `ab-cdefgh${'\u0301'.repeat(31)}`,
};
const rejectedTexts = {
  ...rejectedInSecrets,
  'a direction override': 'a\u202eb',
  'a direction isolate': 'a\u2066b',
  'a zero-width space': 'a\u200bb',
  'a byte order mark': 'a\ufeffb',
};

/** @param valid a valid value of the field */
function wrongValues(field: Resolved, name: string, valid?: unknown): WrongValue[] {
  const as = (values: unknown[]) =>
    values.filter((value) => value !== null || !field.isNullable).map((value) => ({ value, name }));
  if (field.type === 'string') return as([...notStrings, ...wrongTexts(field, name)]);
  if (field.type === 'integer') {
    const { minimum = 0, maximum = 0 } = field;
    return as([...notIntegers, ...outOfRange, minimum - 1, maximum + 1]);
  }
  if (field.type === 'number') {
    const { minimum, maximum } = field;
    const beyond = [minimum === undefined ? [] : minimum - 1e-6, maximum === undefined ? [] : maximum + 1e-6];
    return as([...notNumbers, ...beyond.flat()]);
  }
  if (field.type === 'boolean') return as(notBooleans);
  if (field.type === 'object') return [...as(notObjects), ...wrongProperties(field, name, Object(valid))];
  const { items = {}, minItems = 0, maxItems = 0, uniqueItems = false } = field;
  const item = items.type === 'integer' ? 1 : 'https://cdn.example.com/1.jpg';
  const distinct = (_: unknown, index: number) =>
    uniqueItems && typeof item === 'number' ? index + 1 : item;
  return [
    ...as(notArrays),
    ...as([Array.from({ length: maxItems + 1 }, distinct)]),
    ...as(minItems > 0 ? [Array.from({ length: minItems - 1 }, distinct)] : []),
    ...as(uniqueItems ? [[item, item]] : []),
    ...wrongValues(items, within(name, '0')).map((wrong) => ({ ...wrong, value: [wrong.value] })),
  ];
}

/** Values of an object with one wrong property, the others as in a valid one. */
function wrongProperties(
  { properties = {}, minProperties = 0 }: Resolved,
  name: string,
  valid: object,
): WrongValue[] {
  const wrong = Object.entries(properties).flatMap(([inner, field]) =>
    wrongValues(resolve(field), within(name, inner), Object(valid)[inner]).map((one) => ({
      value: { ...valid, [inner]: one.value },
      name: one.name,
    })),
  );
  return [...wrong, ...(minProperties > 0 ? [{ value: {}, name }] : [])];
}

/** The JSON pointer of a value inside another one. */
const within = (name: string, inner: string) => `${name.startsWith('/') ? '' : '/'}${name}/${inner}`;

function wrongTexts({ format, pattern, minLength = 0, maxLength }: Resolved, name: string): string[] {
  const texts = format === 'password' ? rejectedInSecrets : rejectedTexts;
  const { 'a line feed': _, ...ofBlocks } = rejectedTexts;
  return [
    ...(isToken(name) ? [] : Object.values(multiline.includes(name) ? ofBlocks : texts)),
    ...(minLength > 0 ? ['', 'x'.repeat(minLength - 1)] : []),
    ...(minLength > 0 && format !== 'password' ? ['   ', '\n', '\u3164'] : []),
    ...(pattern === undefined || isToken(name) ? [] : ['!'.repeat(Math.max(1, minLength)), '가나다라마바']),
    ...(format === 'email' ? ['plain', 'a@b', 'a b@c.kr', 'a@b..com', '@example.com'] : []),
    ...(maxLength === undefined || isToken(name)
      ? []
      : ['x'.repeat(maxLength + 1), '😀'.repeat(maxLength + 1)]),
  ];
}

t.test('every operation has a valid body with every field', (t) =>
  eachOperation(t, operationsWithBody, 25, async (operation) => {
    const walked = new Set(bodiesOf(operation).flatMap((body) => Object.keys(body)));
    const missing = fieldsOf(operation).filter(({ name }) => !walked.has(name));
    const { body } = await send(operation, { body: validBody(operation) });
    return [
      ...missing.map(({ name }) => `no valid body has ${name}`),
      ...(body?.data?.code === 'validation_error' ? [JSON.stringify(body)] : []),
    ];
  }),
);

t.test('a field rejects other types, lengths, ranges and characters', (t) =>
  eachOperation(t, operationsWithBody, 25, (operation) =>
    eachValue(fieldsOf(operation), ({ name, field, body }) =>
      eachValue(wrongValues(resolve(field), name, body[name]), async (wrong) =>
        notInvalid(await send(operation, { body: { ...body, [name]: wrong.value } }), wrong.name),
      ),
    ),
  ),
);

const tokensOf = (operation: (typeof operationsWithBody)[number]) =>
  fieldsOf(operation).filter(({ name }) => isToken(name));
const wrongTokens = ['', ' ', 'x', 'x'.repeat(5_000), ...Object.values(rejectedTexts)];

t.test('whatever is wrong with a token, it is not its form', (t) =>
  eachOperation(
    t,
    operationsWithBody.filter((operation) => tokensOf(operation).length > 0),
    11,
    (operation) =>
      eachValue(tokensOf(operation), ({ name, body }) =>
        eachValue(wrongTokens, async (value) => {
          const { status, body: answer } = await send(operation, { body: { ...body, [name]: value } });
          // Another check may come first, such as that of the provider.
          return status < 500 && answer?.data?.code !== 'validation_error'
            ? []
            : [`${name}: ${JSON.stringify(answer)}`];
        }),
      ),
  ),
);

const isInteger = ({ type, items }: Resolved) => type === 'integer' || items?.type === 'integer';
const withIntegers = operationsWithBody.filter((one) => fieldsOf(one).some(({ field }) => isInteger(field)));

t.test('a number beyond what JSON can hold is rejected', (t) =>
  eachOperation(t, withIntegers, 4, (operation) =>
    eachValue(
      fieldsOf(operation).filter(({ field }) => isInteger(field)),
      ({ name, field, body }) =>
        eachValue(['1e400', '-0', '9007199254740992'], async (number) => {
          const [value, rejected] = field.type === 'array' ? [['@'], `/${name}/0`] : ['@', name];
          const text = JSON.stringify({ ...body, [name]: value }).replace('"@"', number);
          return notInvalid(await send(operation, { body: text, headers: json }), rejected);
        }),
    ),
  ),
);

/** Whether a text may have any characters. */
function isFreeText({ name, field }: ReturnType<typeof fieldsOf>[number]): boolean {
  const { type, format, pattern, maxLength } = resolve(field);
  return (
    type === 'string' &&
    maxLength !== undefined &&
    !format &&
    !pattern &&
    !['phone_number', 'endpoint'].includes(name)
  );
}
const withTexts = operationsWithBody.filter((operation) => fieldsOf(operation).some(isFreeText));

t.test('a text takes as many characters as documented, however many code units they have', (t) =>
  eachOperation(t, withTexts, 10, (operation) =>
    eachValue(fieldsOf(operation).filter(isFreeText), async ({ name, field, body }) => {
      const longest = '😀'.repeat(resolve(field).maxLength ?? 0);
      const response = await send(operation, { body: { ...body, [name]: longest } });
      return response.body?.data?.fields ? [response.text] : [];
    }),
  ),
);

t.test('a missing field is named, alone and together with the others', (t) =>
  eachOperation(t, operationsWithBody, 25, async (operation) => {
    const schemas = bodySchemas(operation);
    const [only] = schemas;
    const problems = await eachValue(schemas.length > 1 ? [] : (only?.required ?? []), async (name) => {
      const body = { ...bodiesOf(operation)[0], [name]: undefined };
      return notInvalid(await send(operation, { body }), name);
    });
    if (operation.requestBody?.required === false) return problems;
    const required = schemas.map((schema) => [...(schema.required ?? [])].sort().join());
    // A body in one of two forms may name the fields of the first one only.
    const accepted = only?.minProperties ? ['body'] : [required[0], required.join().split(',').sort().join()];
    for (const options of [{ body: {} }, {}]) {
      const response = await send(operation, options);
      const names = Object.keys(response.body?.data?.fields ?? {});
      if (!accepted.includes(names.sort().join())) problems.push(`names ${names}: ${response.text}`);
    }
    return problems;
  }),
);

t.test('a body that is not an object is rejected as `body`', (t) =>
  eachOperation(t, operationsWithBody, 25, (operation) =>
    eachValue(['null', '[]', '"text"', '""', '1', 'true', '[{"username":"a"}]'], async (body) =>
      notInvalid(await send(operation, { body, headers: json }), 'body'),
    ),
  ),
);

/** What a request could change without permission. */
async function protectedRows(): Promise<unknown> {
  const { rows } = await app.pool.query(`
    SELECT (SELECT json_agg(u ORDER BY id) FROM (SELECT id, username, email, role, is_verified, suspended_at FROM users) u) AS users,
      (SELECT json_agg(s ORDER BY id) FROM (SELECT id, owner_id, created_at FROM stores) s) AS stores,
      (SELECT json_agg(p ORDER BY id) FROM (SELECT id, store_id, created_at, deleted_at FROM posts) p) AS posts`);
  return rows;
}

t.test('an unknown field is rejected by name and changes nothing', async (t) => {
  const before = await protectedRows();
  const columns = ['id', 'role', 'is_verified', 'suspended_at', 'user_id', 'owner_id', 'store_id', 'status'];
  const odd = ['created_at', 'deleted_at', 'thumbnail', 'Name', 'a/b', 'a~b', '한글', ' ', '$where', ''];
  const inherited = ['constructor', 'prototype', 'toString'];
  await eachOperation(t, operationsWithBody, 25, async (operation) => [
    ...(await eachValue([...columns, ...odd, ...inherited], async (key) => {
      const body = JSON.stringify({ ...validBody(operation), [key]: 1 });
      return notInvalid(await send(operation, { body, headers: json }), key);
    })),
    ...(await eachValue(['__proto__', 'constructor'], async (key) => {
      const start = `{"${key}":{"prototype":{"role":"admin"},"role":"admin"},`;
      const body = JSON.stringify(validBody(operation)).replace('{', start);
      return notRejected(await send(operation, { body, headers: json }), 400, 'malformed_json');
    })),
  ]);
  t.strictSame(await protectedRows(), before);
  t.equal(Object.hasOwn(Object.prototype, 'role'), false);
});
