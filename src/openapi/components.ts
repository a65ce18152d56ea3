import { isDeepStrictEqual } from 'node:util';
import { documentedKeyword } from '../http/schemas.ts';
import { internalKeywords } from '../http/text.ts';

export type JsonObject = Record<string, unknown>;

/** Whether a value is an object, and neither a list nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `logIn` and `log_in` become `LogIn`. */
export function toPascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

type Kind = 'schemas' | 'responses' | 'parameters' | 'headers' | 'examples';

export type Reference = { $ref: string };

/** The named parts of the document, to which operations refer. */
export class Components {
  readonly parts: Record<Kind, Record<string, JsonObject>>;

  constructor(schemas: Record<string, JsonObject>) {
    this.parts = { schemas: { ...schemas }, responses: {}, parameters: {}, headers: {}, examples: {} };
  }

  /**
   * Adds a part, unless it is there.
   *
   * @throws when another part has the name
   */
  add(kind: Kind, name: string, part: JsonObject): Reference {
    const known = this.parts[kind][name];
    if (known !== undefined && !isDeepStrictEqual(known, part))
      throw new Error(`two different ${kind} would be named ${name}`);
    this.parts[kind][name] = part;
    return { $ref: `#/components/${kind}/${name}` };
  }

  /** Adds a part that several operations share; one that differs has the operation in its name. */
  addShared(kind: Kind, name: string, operation: string, part: JsonObject): Reference {
    const known = this.parts[kind][name];
    const differs = known !== undefined && !isDeepStrictEqual(known, part);
    return this.add(kind, differs ? `${operation}${name}` : name, part);
  }

  /** Follows references to schemas. */
  resolve(schema: JsonObject): JsonObject {
    const name = nameOf(schema);
    if (name === undefined) return schema;
    const target = this.parts.schemas[name];
    if (target === undefined) throw new Error(`there is no schema ${name}`);
    return this.resolve(target);
  }

  /** The alternatives of a schema; none of one that has a single form. */
  formsOf(schema: JsonObject): JsonObject[] {
    const { oneOf, anyOf } = this.resolve(schema);
    return [oneOf, anyOf].flatMap((forms) => (Array.isArray(forms) ? forms : []));
  }

  /** An example that a schema allows: its own, or one composed of those of its parts. */
  exampleOf(schema: JsonObject): unknown {
    const resolved = this.resolve(schema);
    const { examples, const: constant, enum: values, properties, items, required } = resolved;
    if (Array.isArray(examples)) return examples[0];
    if (constant !== undefined) return constant;
    if (Array.isArray(values)) return values[0];
    const [form] = this.formsOf(resolved);
    if (form) return this.exampleOf(form);
    if (isObject(items)) return [this.exampleOf(items)];
    if (isObject(properties)) {
      const entries = Object.entries(properties).map(([name, property]) => [
        name,
        this.exampleOf(property as JsonObject),
      ]);
      // An optional property without an example is left out.
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
    }
    if (Array.isArray(required)) throw new Error(`no example for ${JSON.stringify(schema)}`);
    return undefined;
  }

  /** Marks the property that tells the forms of a schema apart: the one whose values are others in each of them. */
  addDiscriminators(): void {
    for (const schema of Object.values(this.parts.schemas)) {
      const forms = this.formsOf(schema);
      const fields = forms.map(
        (form) => (this.resolve(form)['properties'] ?? {}) as Record<string, JsonObject>,
      );
      const valuesOf = (name: string) => fields.map((one) => this.valuesOf(one[name]));
      const propertyName = Object.keys(fields[0] ?? {}).find((name) => {
        const values = valuesOf(name);
        return (
          values.every(({ length }) => length > 0) && new Set(values.flat()).size === values.flat().length
        );
      });
      if (propertyName === undefined) continue;
      const entries = valuesOf(propertyName).flatMap((values, i) =>
        values.map((value) => [value, forms[i]?.['$ref']]),
      );
      schema['discriminator'] = { propertyName, mapping: Object.fromEntries(entries) };
    }
  }

  /** The constant or the values of an enum that a schema allows; none of any other schema. */
  private valuesOf(schema: JsonObject = {}): unknown[] {
    const { const: constant, enum: values } = this.resolve(schema);
    return Array.isArray(values) ? values : constant === undefined ? [] : [constant];
  }
}

/** The name of the component to which a schema refers. */
export function nameOf(schema: JsonObject): string | undefined {
  return typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
}

/** Removes what only the validator understands, adds what only the document has, and writes constants as such: @fastify/swagger makes enums of them. */
export function toJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJsonSchema);
  if (!isObject(value)) return value;
  const { [documentedKeyword]: documented, ...keywords } = value;
  const kept = Object.entries({ ...(isObject(documented) ? documented : {}), ...keywords }).filter(
    ([key]) => !internalKeywords.includes(key) && key !== '$id',
  );
  return Object.fromEntries(
    kept.map(([key, item]) =>
      key === 'enum' && Array.isArray(item) && item.length === 1
        ? ['const', item[0]]
        : [key, toJsonSchema(item)],
    ),
  );
}
