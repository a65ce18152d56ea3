import {
  type IntegerOptions,
  type SchemaOptions,
  type Static,
  type StringOptions,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox';

/** Every schema that something refers to, by its `$id`. Complete when all routes are registered. */
export const referencedSchemas: Record<string, TSchema> = {};

/** A reference to a schema by its `$id`, with that schema's type. @throws when another schema has the `$id` */
export function Ref<T extends TSchema>(schema: T, options: SchemaOptions = {}) {
  const { $id = '' } = schema;
  referencedSchemas[$id] ??= schema;
  if (referencedSchemas[$id] !== schema) throw new Error(`two schemas are named ${$id}`);
  return Type.Unsafe<Static<T>>({ $ref: `${$id}#`, ...options });
}

/** The same, or null. */
export const RefOrNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([Ref(schema), Type.Null()], { description });

/** One of several strings; as `enum`, which generated clients read better than a union of constants. */
export function StringEnum<const Value extends string>(
  values: readonly Value[],
  options: SchemaOptions = {},
) {
  return Type.Unsafe<Value>({ type: 'string', enum: values, ...options });
}

/** Keywords of {@link NamedEnum} for generators: openapi-generator and NSwag have different names for the same thing. */
export const enumKeywords = ['x-enum-varnames', 'x-enumNames', 'x-enum-descriptions'];

/** A named schema that is one of others. */
export const OneOf = <Forms extends TSchema[]>($id: string, description: string, forms: [...Forms]) =>
  Type.Unsafe<Static<Forms[number]>>({ $id, description, oneOf: forms.map((form) => Ref(form)) });

/**
 * A named enum: generated clients have one type for it, with a name and a description for each value.
 *
 * @param names of the values in generated clients; by default the values in capitals
 */
export function NamedEnum<const Value extends string>(
  $id: string,
  description: string,
  values: Record<Value, string>,
  names = Object.keys(values).map((value) => value.toUpperCase()),
) {
  return Type.Unsafe<Value>({
    type: 'string',
    enum: Object.keys(values),
    $id,
    description,
    'x-enum-varnames': names,
    'x-enumNames': names,
    'x-enum-descriptions': Object.values(values),
  });
}

/** The keyword of {@link documented}. */
export const documentedKeyword = 'documented';

/** Keywords that only the document has: of responses, and of paths, cursors and tokens, whose errors are no `validation_error`. */
export const documented = (keywords: SchemaOptions) => ({ [documentedKeyword]: keywords });

/** The largest id of a 32-bit column. */
export const maxId = 2_147_483_647;

/** A number of 32 bits, not negative unless the options say so. */
export const Int32 = (description: string, options: IntegerOptions = {}) =>
  Type.Integer({ format: 'int32', ...documented({ minimum: 0, maximum: maxId }), ...options, description });

/** The most characters of a string, with other keywords where there are more. */
export type Limits = number | (StringOptions & { maxLength: number });

export const limitsOf = (limits: Limits) => (typeof limits === 'number' ? { maxLength: limits } : limits);

/** A string of a response. */
export const Text = (description: string, limits: Limits) =>
  Type.String({ ...documented(limitsOf(limits)), description });

/** A schema of one type, or null. */
export const OrNull = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema['type'], 'null'] });

/** A list of a response. */
export const List = <T extends TSchema>(item: T, maxItems: number, description: string) =>
  Type.Array(item, { ...documented({ maxItems }), description });

/** True or false. */
export const Flag = (description: string) => Type.Boolean({ description });

/** Text for people, in the language of the response. */
export const Message = (description: string) => Text(description, 1000);

/** A URL of a response. Clients give at most 2,048 characters, of which each is at most twelve in percent-encoding. */
export const Url = (description: string) => Text(description, { format: 'uri', maxLength: 12 * 2048 });

/** An email address of a response. */
export const Email = (description: string) => Text(description, { format: 'email', maxLength: 254 });

/** Base64url without padding, in a response. */
export const Base64url = (description: string, maxLength: number) =>
  Text(description, { pattern: '^[A-Za-z0-9_-]+$', maxLength: maxLength });

/** A day of a response, as `2026-01-31`. */
export const Day = (description: string) => Text(description, { format: 'date', maxLength: 10 });

/** ISO 8601 in UTC, as `2026-01-31T09:30:00.000Z`. */
export const Timestamp = (description: string) => Text(description, { format: 'date-time', maxLength: 24 });

/** A named object: generated clients have one type for it. */
export const NamedObject = <T extends TProperties>($id: string, description: string, properties: T) =>
  Type.Object(properties, { $id, description });

/** The body of a request, which has no other properties. */
export const Body = <T extends TProperties>($id: string, description: string, properties: T) =>
  Type.Object(properties, { $id, description, additionalProperties: false });

/** The body of a request that changes the given fields, at least one of them. */
export const Changes = <T extends TProperties>($id: string, description: string, properties: T) =>
  Type.Partial(Type.Object(properties, { description, additionalProperties: false, minProperties: 1 }), {
    $id,
  });

/** The `data` of a response without content. */
export const EmptyData = NamedObject('EmptyData', 'Nothing to return', {});

/** The response of an operation that returns nothing, once its work is done. */
export async function emptyData(work: Promise<unknown>): Promise<Static<typeof EmptyData>> {
  await work;
  return {};
}

const idLimits = { minimum: 1, maximum: maxId };
const bigIdLimits = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

/** An id; outside the column's range it is a validation error in a body or a query. */
export const Id = (description: string) => Int32(description, idLimits);

/** The same of a 64-bit column, as far as a number of JSON is exact: of posts, requests, notifications, images and reports. */
export const BigId = (description: string) => Type.Integer({ format: 'int64', ...bigIdLimits, description });

/** An id in a path. What cannot be an id is that resource's 404. */
export const PathId = (description: string) => Int32(description, documented(idLimits));

/** The same of a 64-bit column. */
export const BigPathId = (description: string) =>
  Type.Integer({ format: 'int64', ...documented(bigIdLimits), description });

/** A UUID of a response. */
export const Uuid = (description: string) => Text(description, { format: 'uuid', maxLength: 36 });

/** A UUID in a path, in lower case. What cannot be one is that resource's 404. */
export const PathUuid = (description: string) =>
  Type.String({ format: 'uuid', ...documented({ maxLength: 36 }), description });

const isIdUpTo = (maximum: number) => (text: string) =>
  /^[1-9]\d{0,15}$/.test(text) && Number(text) <= maximum;

/** Whether a text is an id that a 32-bit column can hold. */
export const isId = isIdUpTo(maxId);

/** Whether a text is an id of a 64-bit column that is exact as a number. */
export const isBigId = isIdUpTo(Number.MAX_SAFE_INTEGER);

/** Whether a text is a UUID in the form that PostgreSQL and this service write. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
