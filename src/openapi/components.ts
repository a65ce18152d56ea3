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
   * @param names it has the first one that no other part has
   * @throws when other parts have all of them
   */
  add(kind: Kind, names: string | string[], part: JsonObject): Reference {
    const parts = this.parts[kind];
    const name = [names].flat().find((one) => isDeepStrictEqual(parts[one] ?? part, part));
    if (name === undefined) throw new Error(`two different ${kind} would be named ${names}`);
    parts[name] = part;
    return { $ref: `#/components/${kind}/${name}` };
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
      const examples = Object.entries(properties).map(([name, one]) => [
        name,
        this.exampleOf(one as JsonObject),
      ]);
      // An optional property without an example is left out.
      return Object.fromEntries(examples.filter(([, value]) => value !== undefined));
    }
    if (Array.isArray(required)) throw new Error(`no example for ${JSON.stringify(schema)}`);
    return undefined;
  }

  /** Examples by the name of their schema: of a schema with several forms, or of a list of such, one for each form. */
  examplesOf(schema: JsonObject): [string, unknown][] {
    const { properties } = this.resolve(schema) as { properties?: Record<string, { items?: JsonObject }> };
    const itemForms = this.formsOf(properties?.['items']?.items ?? {});
    const forms = itemForms.length > 0 ? itemForms : this.formsOf(schema);
    const page = itemForms.length > 0 && Object(this.exampleOf(schema));
    return (forms.length > 0 ? forms : [schema]).map((form) => {
      const example = this.exampleOf(form);
      return [String(nameOf(form)), page ? { ...page, items: [example] } : example];
    });
  }

  /** Marks the property that tells the forms of a schema apart: the one whose values are others in each of them. */
  addDiscriminators(): void {
    for (const schema of Object.values(this.parts.schemas)) {
      const forms = this.formsOf(schema);
      const fields = forms.map(
        (form) => Object(this.resolve(form)['properties']) as Record<string, JsonObject>,
      );
      for (const propertyName of Object.keys(fields[0] ?? {})) {
        const values = fields.map((one) => this.valuesOf(one[propertyName]));
        const all = values.flat();
        if (values.some(({ length }) => length === 0) || new Set(all).size < all.length) continue;
        const mapping = values.flatMap((ofForm, i) => ofForm.map((value) => [value, forms[i]?.['$ref']]));
        schema['discriminator'] = { propertyName, mapping: Object.fromEntries(mapping) };
        break;
      }
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
  const { [documentedKeyword]: documented, $id: _, ...keywords } = value;
  const kept = Object.entries({ ...Object(documented), ...keywords }).filter(
    ([key]) => !internalKeywords.includes(key),
  );
  return Object.fromEntries(
    kept.map(([key, item]) => {
      const isConstant = key === 'enum' && Array.isArray(item) && item.length === 1;
      return isConstant ? ['const', item[0]] : [key, toJsonSchema(item)];
    }),
  );
}
