import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { root } from '../../../test/support/files.ts';

const script = (name: string) => import(pathToFileURL(join(root, 'packages/client/scripts', name)).href);
const { operationTable } = await script('operation-table.mjs');
const { enums } = await script('enums.mjs');
const { describeLimits } = await script('limits.mjs');

/** A document with one operation. */
function documentOf(operation: object) {
  const content = { 'application/json': { schema: { properties: { data: {} } } } };
  const responses = { 200: { description: '', content } };
  const parameters = [{ in: 'path', name: 'id', schema: { type: 'integer' } }];
  const documented = { operationId: 'changeThing', summary: 'Change', tags: ['red-things'] };
  const post = { ...documented, parameters, responses, ...operation };
  return { paths: { '/things/{id}/': { post } } };
}

const bodyOf = (schema: object, type = 'application/json') => ({
  requestBody: { content: { [type]: { schema } } },
});

t.test('two inputs with one name are rejected, also in one of several bodies', async (t) => {
  const alternatives = bodyOf({ oneOf: [{ properties: { name: {} } }, { properties: { id: {} } }] });
  for (const operation of [bodyOf({ properties: { id: {} } }), alternatives]) {
    t.throws(() => operationTable(documentOf(operation)), /changeThing has two inputs with the name id/);
  }
  t.match(operationTable(documentOf(bodyOf({ properties: { name: {} } }))).table, /"body":"json"/);
});

t.test('a path takes integers, UUIDs and texts, and nothing else', async (t) => {
  const withId = (schema: object) =>
    operationTable(documentOf({ parameters: [{ in: 'path', name: 'id', schema }] })).table;
  t.match(withId({ type: 'string', format: 'uuid' }), '"path":"/things/{id:uuid}/"');
  t.match(withId({ type: 'string' }), '"path":"/things/{id:text}/"');
  t.throws(() => withId({ type: 'boolean' }), /things.* takes anything as id/);
});

t.test('operations for browsers that show a page or lead to one are left out', async (t) => {
  for (const responses of [{ 303: { description: '' } }, { 200: { content: { 'text/html': {} } } }]) {
    const { table, methods } = operationTable(documentOf({ responses }));
    t.notMatch(table + methods, 'changeThing');
  }
});

t.test(
  'an editor shows the text of a tag at its resource, and that of an operation at its method',
  async (t) => {
    const tags = [{ name: 'red-things', description: 'Things that are red.' }];
    const { methods } = operationTable({ ...documentOf({ description: 'It is red.' }), tags });
    t.match(methods, '  /**\n   * Things that are red.\n   */\n  redThings: {');
    t.match(methods, "    /**\n     * Change. It is red.\n     */\n    changeThing: Method<'changeThing'>;");
  },
);

t.test('what types cannot say is in the table', async (t) => {
  const form = bodyOf({ properties: { image: {} } }, 'multipart/form-data');
  const { table, methods } = operationTable(documentOf({ ...form, security: [{ bearer: [] }, {}] }));
  t.match(table, '"method":"POST","path":"/things/{id}/","body":"form","auth":"optional"');
  t.match(table, 'export const changeThing = {"id":"changeThing"');
  t.match(methods, "changeThing: Method<'changeThing'>;");
  t.match(methods, 'redThings: { changeThing: changeThing }');
  t.match(
    operationTable(documentOf({ operationId: 'listRedThings' })).methods,
    "list: Method<'listRedThings'>",
  );
  const parameters = ['Idempotency-Key', 'X-Refresh-Token'].map((name) => ({ in: 'header', name }));
  const { table: withHeaders } = operationTable(documentOf({ parameters }));
  t.match(withHeaders, '"idempotent":true,"cookie":true');
  const commented = operationTable(documentOf({ description: 'Any */ of them' }));
  t.match(commented.methods, 'Any *\\/ of them', 'a comment cannot end early');
});

t.test('an enum is a constant and a type', (t) => {
  const Colour = {
    description: 'Of a thing',
    enum: ['빨강'],
    'x-enum-varnames': ['DARK_RED'],
    'x-enum-descriptions': ['As wine'],
  };
  const generated = enums({ components: { schemas: { Colour, Thing: {}, ErrorCode: Colour } } });
  t.match(
    generated,
    /^\/\*\* Of a thing \*\/\nexport const Colour = \{\n +\/\*\* As wine \*\/\n +DarkRed: "빨강",\n\} as const;/,
  );
  t.match(generated, 'export type Colour = (typeof Colour)[keyof typeof Colour];');
  t.notMatch(generated, /Thing|ErrorCode/);
  t.end();
});

t.test('limits are in the descriptions of inputs', (t) => {
  const name = { description: 'Lower case.', minLength: 4, maxLength: 30, pattern: '^[a-z]+$' };
  const images = { minItems: 1, maxItems: 5, items: { properties: { title: { maxLength: 10 } } } };
  const id = { description: 'The identifier', minimum: 1, maximum: 2147483647 };
  const Limit = { in: 'query', schema: { minimum: 1, maximum: 100, default: 20 } };
  const schemas = { Thing: { properties: { name, images, id, open: {} } } };
  const document = { components: { parameters: { Limit }, schemas } };
  describeLimits(document);
  t.match(Limit, { description: '1 to 100. Default: 20' });
  const title = { description: 'At most 10 characters' };
  t.match(schemas.Thing.properties, {
    name: { description: 'Lower case. 4 to 30 characters. Pattern: `^[a-z]+$`' },
    images: { description: '1 to 5 entries', items: { properties: { title } } },
    id: { description: 'The identifier' },
  });
  t.same(schemas.Thing.properties.open, {});
  t.end();
});
