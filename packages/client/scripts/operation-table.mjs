/**
 * The operations of the document as TypeScript.
 *
 * @returns `table`: how each operation is called; `methods`: which of them a client has as methods, by resource: the tag in camelCase
 * @throws when two inputs of one operation have the same name, or when a path takes anything but integers, UUIDs and texts
 */
export function operationTable(document) {
  const { tags = [] } = document;
  const found = Object.entries(document.paths)
    .flatMap(([path, item]) =>
      ['get', 'post', 'put', 'patch', 'delete']
        .filter((method) => item[method] !== undefined)
        .map((method) => describe(document, path, method, item)),
    )
    .filter(({ isForPages }) => !isForPages);
  const calls = found.filter(({ isStream }) => !isStream);
  const resources = [...new Set(calls.map(({ resource }) => resource))].map((resource) => ({
    resource,
    text: tags.find(({ name }) => camelCase(name) === resource)?.description ?? '',
    members: calls.filter((one) => one.resource === resource),
  }));
  return {
    table: [
      "import type { OperationCall } from '../operation-call.ts';",
      // One by one, so that a bundler leaves out what an app does not use.
      ...found.map(
        ({ id, call }) =>
          `export const ${id} = ${JSON.stringify({ id, ...call })} as const satisfies OperationCall;`,
      ),
      '',
    ].join('\n'),
    methods: [
      "import type { Method } from '../types.ts';",
      `import { ${calls.map(({ id }) => id).join(', ')} } from './operations.ts';`,
      'export interface Resources {',
      ...resources.flatMap(({ resource, text, members }) => [
        `${comment(text, '  ')}\n  ${resource}: {`,
        ...members.map(({ id, name, text }) => `${comment(text, '    ')}\n    ${name}: Method<'${id}'>;`),
        '  };',
      ]),
      '}',
      'export const resources = {',
      ...resources.map(({ resource, members }) => {
        return `  ${resource}: { ${members.map(({ id, name }) => `${name}: ${id}`).join(', ')} },`;
      }),
      '};',
      '',
    ].join('\n'),
  };
}

/**
 * The name of an operation among those of its resource: its id without the noun, such as `list` of `listPosts`. The verb stays.
 */
function nameOf(id, resource) {
  const noun = resource.replace(/(?<=ch)es$|s$/, '').replace(/^./, (letter) => letter.toUpperCase());
  return id.replace(new RegExp(`${noun}(e?s|(?![a-z]))`), '');
}

function describe(document, path, method, item) {
  const operation = item[method];
  const id = operation.operationId;
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((one) =>
    resolve(document, one),
  );
  const named = (place) => parameters.filter((one) => one.in === place).map(({ name }) => name);
  const content = resolve(document, operation.requestBody ?? {}).content ?? {};
  const [type] = Object.keys(content);
  const properties = type === undefined ? [] : propertiesOf(document, content[type].schema);
  const names = [...named('path'), ...named('query'), ...properties];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${id} has two inputs with the name ${twice}`);
  const resource = camelCase(operation.tags[0]);
  const security = operation.security ?? document.security ?? [];
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  const response = resolve(document, success?.[1] ?? {}).content ?? {};
  const isEnveloped =
    'application/json' in response &&
    propertiesOf(document, response['application/json'].schema).includes('data');
  return {
    id,
    isStream: 'text/event-stream' in response,
    // A page, or a redirect to one.
    isForPages: success === undefined || 'text/html' in response,
    text: `${operation.summary}. ${operation.description ?? ''}`,
    resource,
    name: nameOf(id, resource),
    call: {
      method: method.toUpperCase(),
      path: parameters.filter((one) => one.in === 'path').reduce(withType, path),
      ...(named('query').length > 0 && { query: named('query') }),
      ...(type !== undefined && { body: type === 'multipart/form-data' ? 'form' : 'json' }),
      ...(security.some((one) => 'bearer' in one) && {
        auth: security.every((one) => 'bearer' in one) ? 'required' : 'optional',
      }),
      ...(named('header').includes('Idempotency-Key') && { idempotent: true }),
      ...(named('header').includes('X-Refresh-Token') && { cookie: true }),
      ...(!isEnveloped && { plain: true }),
    },
  };
}

/** A path in which `{name}` is an integer, `{name:uuid}` a UUID and `{name:text}` any text. */
function withType(path, { name, schema: { type, format } }) {
  if (type === 'integer') return path;
  if (type !== 'string') throw new Error(`${path} takes anything as ${name}`);
  return path.replace(`{${name}}`, `{${name}:${format === 'uuid' ? 'uuid' : 'text'}}`);
}

/** Follows a reference of the document. */
function resolve(document, object) {
  if (object.$ref === undefined) return object;
  const target = object.$ref
    .slice(2)
    .split('/')
    .reduce((parent, key) => parent[key], document);
  return resolve(document, target);
}

/** The names of all properties that an object of a schema may have. */
function propertiesOf(document, reference) {
  const schema = resolve(document, reference);
  const parts = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  const names = [Object.keys(schema.properties ?? {}), ...parts.map((part) => propertiesOf(document, part))];
  return [...new Set(names.flat())];
}

const camelCase = (tag) => tag.replace(/-./g, ([, letter]) => letter.toUpperCase());

function comment(text, indent) {
  const lines = text.trim().replaceAll('*/', '*\\/').split('\n');
  return ['/**', ...lines.map((line) => ` * ${line}`.trimEnd()), ' */']
    .map((line) => indent + line)
    .join('\n');
}
