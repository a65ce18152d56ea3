import { type FieldError, fieldName, maxFieldErrors, pointerTo, problems } from './field-errors.ts';

/** More levels of nesting than any schema has. */
const maxDepth = 16;

/** More properties, objects and lists, and more values in all, than any schema allows. */
const maxParts = 1_000;
const maxValues = 10_000;

/**
 * Measures JSON text without parsing it, because parsing thousands of properties costs more than answering a request.
 *
 * @returns whether it is nested deeper than any schema allows, or the largest count where it has more than that
 */
export function measureJson(text: string): 'accepted' | 'too deep' | { tooMany: number } {
  let [depth, parts, values] = [0, 0, 0];
  for (let index = 0; index < text.length; index++) {
    switch (text[index]) {
      case '"':
        index = endOfString(text, index);
        break;
      case '{':
      case '[':
        if (++depth > maxDepth) return 'too deep';
        if (++parts > maxParts) return { tooMany: maxParts };
        break;
      case '}':
      case ']':
        depth--;
        break;
      case ':':
        if (++parts > maxParts) return { tooMany: maxParts };
        break;
      case ',':
        if (++values > maxValues) return { tooMany: maxValues };
    }
  }
  return 'accepted';
}

/** @returns the index of the quote that ends the string which begins at `start`; the end of the text without one */
function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1);
  if (end === -1) return text.length;
  if (text[end - 1] !== '\\') return end;
  let index = start + 1;
  // A backslash escapes the next character.
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index;
}

/** The keywords of JSON Schema that {@link sizeErrors} reads. */
export interface SizedSchema {
  $ref?: string;
  oneOf?: SizedSchema[];
  properties?: Record<string, SizedSchema>;
  maxItems?: number;
}

/**
 * Finds lists with too many items and objects with many unknown fields, without looking at what they contain: the validator
 * collects every error of every item, which takes far longer than a valid request.
 *
 * @param findSchema finds a schema by its `$id`
 * @param path JSON pointer of the value
 */
export function sizeErrors(
  value: unknown,
  schema: SizedSchema,
  findSchema: (id: string) => unknown,
  path = '',
): FieldError[] {
  if (typeof value !== 'object' || value === null) return [];
  const { properties, maxItems } = resolve(schema, findSchema);
  if (Array.isArray(value)) {
    const isTooLong = maxItems !== undefined && value.length > maxItems;
    return isTooLong ? [{ field: fieldName(path), ...problems.tooMany(maxItems) }] : [];
  }
  if (properties === undefined) return [];
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length > maxFieldErrors) {
    return unknown
      .slice(0, maxFieldErrors)
      .map((name) => ({ field: fieldName(path + pointerTo(name)), ...problems.unknownField }));
  }
  return Object.entries(value).flatMap(([name, item]) => {
    const property = properties[name];
    return property ? sizeErrors(item, property, findSchema, path + pointerTo(name)) : [];
  });
}

/** Follows a reference, and merges the forms of a body that has several. */
function resolve({ $ref, oneOf, ...schema }: SizedSchema, findSchema: (id: string) => unknown): SizedSchema {
  if ($ref !== undefined) return resolve(findSchema($ref.replace(/#$/, '')) as SizedSchema, findSchema);
  if (oneOf === undefined) return schema;
  const forms = oneOf.map((form) => resolve(form, findSchema).properties ?? {});
  return { properties: Object.assign({}, ...forms) };
}
