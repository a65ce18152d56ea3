import buildValidatorSelector from '@fastify/ajv-compiler';
import { SerializerSelector as buildSerializerSelector } from '@fastify/fast-json-stringify-compiler';
import { type TSchema, Type } from '@sinclair/typebox';
import type { Ajv, SchemaValidateFunction } from 'ajv';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import fastifyPlugin from 'fastify-plugin';
import { invalidFields } from '../errors.ts';
import { describeErrors, fieldName, maxFieldErrors, problems } from '../field-errors.ts';
import { documentedKeyword, enumKeywords, isBigId, isId, isUuid, referencedSchemas } from '../schemas.ts';
import { addTextRules } from '../text.ts';
import { isDecodable } from './routing.ts';

/**
 * Compiles schemas, and prepares what the validator checks. Paths and query strings are converted by their schemas: AJV's own coercion
 * also accepts `0x10`, `1e3` and the empty string. An empty query parameter counts as absent, an absent body as `{}`.
 */
export const validationPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  compileAtFirstRequest(app);
  app.addHook('onRoute', (route) => {
    const { message, errors } = route.config ?? {};
    if (message === undefined && errors === undefined) return;
    const querystring = route.schema?.querystring ?? Type.Object({});
    route.schema = { ...route.schema, querystring: { ...querystring, additionalProperties: false } };
  });
  app.addHook('preValidation', (request, _reply, done) => {
    const { params, querystring, body } = request.routeOptions.schema ?? {};
    // The query parser would take it literally.
    if (querystring !== undefined && !isDecodable(request.url)) {
      throw invalidFields([{ field: 'query', ...problems.surrogate }]);
    }
    const query = Object.entries(Object(request.query)).filter(([, value]) => value !== '');
    request.params = convert(Object.entries(Object(request.params)), params, readPathId);
    request.query = convert(query, querystring, readQueryValue);
    if (body !== undefined && request.body === undefined) request.body = {};
    // An operation without a body takes `{}`.
    const isBodyless = body === undefined && request.routeOptions.config.message !== undefined;
    if (isBodyless && request.body !== undefined && !isObject(request.body))
      throw invalidFields(describeErrors([noObject]));
    const unknown = isBodyless ? Object.keys(Object(request.body)).slice(0, maxFieldErrors) : [];
    if (unknown.length > 0) {
      throw invalidFields(unknown.map((name) => ({ field: fieldName(name), ...problems.unknownField })));
    }
    done();
  });
});

const isObject = (body: unknown) => typeof body === 'object' && body !== null && !Array.isArray(body);
/** As AJV says it of a body. */
const noObject = { keyword: 'type', instancePath: '', schemaPath: '', params: { type: 'object' } };

interface ValueSchema {
  type?: unknown;
  format?: unknown;
}

type ReadValue = (schema: ValueSchema, text: string) => unknown;

/** An object with the values that its schema expects in place of texts. */
function convert(texts: [string, unknown][], schema: unknown, read: ReadValue): Record<string, unknown> {
  const properties = new Map<string, ValueSchema>(Object.entries(Object(Object(schema).properties)));
  const values = texts.map(([name, text]) => {
    const property = properties.get(name);
    return [name, property && typeof text === 'string' ? read(property, text) : text];
  });
  return Object.fromEntries(values);
}

/** What cannot be an id becomes 0, which no row has, so that it ends as that resource's 404, like any unknown id. */
function readPathId({ type, format }: ValueSchema, text: string): unknown {
  if (type === 'integer') return (format === 'int64' ? isBigId : isId)(text) ? Number(text) : 0;
  if (format !== 'uuid') return text;
  const uuid = text.toLowerCase();
  return isUuid(uuid) ? uuid : '00000000-0000-0000-0000-000000000000';
}

/** A number is plain decimal digits; everything else fails validation. */
function readQueryValue({ type }: ValueSchema, text: string): unknown {
  if (type === 'integer' && /^(0|-?[1-9]\d{0,14})$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** In place of AJV's own keyword: it empties a list that is too long, so that `allErrors` does not look at its items. */
const rejectLongList: SchemaValidateFunction = (limit: number, list: unknown[]) => {
  if (list.length <= limit) return true;
  list.length = 0;
  rejectLongList.errors = [{ keyword: 'maxItems', params: { limit } }];
  return false;
};

const addListRule = (ajv: Ajv) =>
  ajv
    .removeKeyword('maxItems')
    .addKeyword({
      keyword: 'maxItems',
      type: 'array',
      schemaType: 'number',
      before: 'items',
      errors: true,
      validate: rejectLongList,
    });

const validatorOptions: NonNullable<FastifyServerOptions['ajv']> = {
  customOptions: {
    coerceTypes: false,
    removeAdditional: false,
    allErrors: true,
    validateFormats: false,
    // Unknown keywords are rejected.
    keywords: [...enumKeywords, documentedKeyword],
    // Errors with their schema, which holds the text of a pattern.
    verbose: true,
    // To validate schemas against their own schema doubles the time of the first request.
    meta: false,
    validateSchema: false,
  },
  plugins: [addTextRules, addListRule],
};

/** Which of several forms an object has does not depend on formats, whose checks double the time to serialize a list of them. */
const serializerOptions = { ajv: { validateFormats: false } };

/**
 * Compiles the schemas of a route at its first request: those of all operations take 1.1 seconds and 30 MB at start. An invalid schema
 * fails then, so every operation needs a test. Names in schemas of headers must be in lower case.
 */
function compileAtFirstRequest(app: FastifyInstance): void {
  const compileValidator = once(() => buildValidatorSelector()(referencedSchemas, validatorOptions));
  const selectSerializer = buildSerializerSelector();
  app.setValidatorCompiler((part) => {
    const validator = once(() => compileValidator()(part));
    // Fastify reads the errors from the function that it called.
    const validate: FastifyValidationResult = (data) => {
      const isValid = validator()(data) === true;
      validate.errors = validator().errors ?? null;
      return isValid;
    };
    return validate;
  });
  app.setSerializerCompiler(({ httpStatus = '', ...part }) => {
    const select = () => selectSerializer(schemasBelow(part.schema), serializerOptions);
    const serializer = once(() => select()({ ...part, httpStatus }));
    return (data) => serializer()(data);
  });
}

/** The schemas to which one refers, directly or not. With all of them, compiling a serializer takes 10 ms instead of 2. */
function schemasBelow(schema: unknown): Record<string, TSchema> {
  const found: Record<string, TSchema> = {};
  const pending = [schema];
  for (const one of pending) {
    for (const [, $id = ''] of JSON.stringify(one).matchAll(/"\$ref":"(\w+)#?"/g)) {
      const target = referencedSchemas[$id];
      if (target === undefined || $id in found) continue;
      found[$id] = target;
      pending.push(target);
    }
  }
  return found;
}

/** A function that computes its value at its first call. */
export function once<Value>(compute: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= compute());
}
