import { isDeepStrictEqual } from 'node:util';
import { documentedKeyword, maxId } from '../http/schemas.ts';
import { internalKeywords } from '../http/text.ts';

export type JsonObject = Record<string, unknown>;

type Kind = 'schemas' | 'responses' | 'parameters' | 'headers';

type Reference = { $ref: string };

/** What every envelope has besides its data. */
const envelopeParts = {
  Succeeded: { description: 'Always `true`', type: 'boolean', const: true },
  Failed: { description: 'Always `false`', type: 'boolean', const: false },
  Message: { description: 'For people, in the language of the response', type: 'string', maxLength: 1000 },
};

/** Headers that only some responses have; the introduction of the document describes the others. */
const headers = {
  'Retry-After': {
    required: true,
    description: 'Seconds until another try makes sense',
    schema: { type: 'integer', format: 'int32', minimum: 1, maximum: maxId },
    example: 30,
  },
  'WWW-Authenticate': {
    required: true,
    description: 'The challenge; `error="invalid_token"` when a token was sent',
    schema: { type: 'string', maxLength: 1000, pattern: '^Bearer realm=' },
    example: 'Bearer realm="api", error="invalid_token"',
  },
  ETag: {
    required: true,
    description: 'Of this version: for `If-None-Match` and `If-Match`',
    schema: { type: 'string', maxLength: 1000, pattern: '^[!-~]+$' },
    example: '"3q2-7wAAESIzRFVmd4iZqr-ko"',
  },
  Location: {
    required: true,
    description: 'The path of what was created, or the page to which the browser goes on',
    schema: { type: 'string', maxLength: 1000, format: 'uri-reference' },
    example: '/api/v1/posts/1/',
  },
  'Idempotency-Replayed': {
    description: 'Only when this is the stored response to the same `Idempotency-Key`',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'Set-Cookie': {
    description:
      'Only with `X-Refresh-Token: cookie`: the refresh token, or an empty value that clears it. On plain HTTP outside production its name is `dure-refresh`',
    schema: { type: 'string', pattern: '^(__Host-)?dure-refresh=', maxLength: 4096 },
    example:
      '__Host-dure-refresh=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.Zm9yIGV4YW1wbGUgb25seQ; Max-Age=1209600; Path=/; HttpOnly; Secure; SameSite=Strict',
  },
};

const headerComponent = (name: string) => name.replaceAll('-', '');

/** References to the headers that a response has; undefined where it has none. */
export function headerReferences(has: { [Name in keyof typeof headers]?: boolean | undefined }) {
  const names = Object.entries(has).flatMap(([name, isThere]) => (isThere ? name : []));
  if (names.length === 0) return undefined;
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${headerComponent(name)}` }]),
  );
}

/** The named parts of the document, to which operations refer. */
export class Components {
  readonly parts: Record<Kind, Record<string, JsonObject>>;

  constructor(schemas: Record<string, JsonObject>) {
    this.parts = {
      schemas: { ...schemas, ...envelopeParts },
      responses: {},
      parameters: {},
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, header]) => [headerComponent(name), header]),
      ),
    };
  }

  /** Adds a part, unless it is there. @throws when another part has the name */
  add(kind: Kind, name: string, part: JsonObject): Reference {
    const known = this.parts[kind][name] ?? part;
    if (!isDeepStrictEqual(known, part)) throw new Error(`two different ${kind} would be named ${name}`);
    this.parts[kind][name] = part;
    return { $ref: `#/components/${kind}/${name}` };
  }

  /** Adds `{ success, message, data }`. @param text an example of the message, where no example of an operation has one */
  addEnvelope(name: string, success: 'Succeeded' | 'Failed', data: unknown, text?: string): Reference {
    const reference = (part: keyof typeof envelopeParts) => ({ $ref: `#/components/schemas/${part}` });
    const message =
      text === undefined ? reference('Message') : { ...envelopeParts.Message, examples: [text] };
    return this.add('schemas', name, {
      type: 'object',
      required: ['success', 'message', 'data'],
      properties: { success: reference(success), message, data },
    });
  }

  /** Follows references to schemas. */
  resolve(schema: JsonObject): JsonObject {
    const name = nameOf(schema);
    if (name === undefined) return schema;
    const target = this.parts.schemas[name];
    if (target === undefined) throw new Error(`there is no schema ${name}`);
    return this.resolve(target);
  }

  /** Marks the property that tells the forms of a schema or of its `data` apart: the one whose values are others in each of them. */
  addDiscriminators(): void {
    const dataOf = ({ properties }: JsonObject): JsonObject => Object(Object(properties).data);
    for (const schema of Object.values(this.parts.schemas).flatMap((one) => [one, dataOf(one)])) {
      const { oneOf, anyOf } = schema;
      const forms: JsonObject[] = [oneOf, anyOf].flatMap((some) => (Array.isArray(some) ? some : []));
      const fields = forms.map((form): JsonObject => Object(this.resolve(form)['properties']));
      for (const propertyName of Object.keys(fields[0] ?? {})) {
        const values = fields.map((one) => this.valuesOf(Object(one[propertyName])));
        const all = values.flat();
        if (values.some(({ length }) => length === 0) || new Set(all).size < all.length) continue;
        const mapping = values.flatMap((ofForm, i) => ofForm.map((value) => [value, forms[i]?.['$ref']]));
        schema['discriminator'] = { propertyName, mapping: Object.fromEntries(mapping) };
        break;
      }
    }
  }

  /** The constant or the values of an enum that a schema allows; none of any other schema. */
  private valuesOf(schema: JsonObject): unknown[] {
    const { const: constant, enum: values } = this.resolve(schema);
    return Array.isArray(values) ? values : constant === undefined ? [] : [constant];
  }
}

/** The name of the component to which a part refers. */
export function nameOf(part: JsonObject): string | undefined {
  return typeof part['$ref'] === 'string' ? part['$ref'].split('/').at(-1) : undefined;
}

/** Removes what only the validator understands, adds what only the document has, and writes constants as such: @fastify/swagger makes enums of them. */
export function toJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJsonSchema);
  if (typeof value !== 'object' || value === null) return value;
  const { [documentedKeyword]: documented, $id: _, ...keywords } = value as JsonObject;
  const kept = Object.entries({ ...Object(documented), ...keywords }).filter(
    ([key]) => !internalKeywords.includes(key),
  );
  return Object.fromEntries(
    kept.map(([key, item]) => {
      if (key === 'enum' && Array.isArray(item) && item.length === 1) return ['const', item[0]];
      // A reference by `$id` becomes one to a component.
      if (key === '$ref') return [key, `${item}`.replace(/^(\w+)#$/, '#/components/schemas/$1')];
      return [key, toJsonSchema(item)];
    }),
  );
}
