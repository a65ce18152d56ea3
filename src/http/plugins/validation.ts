import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { type SizedSchema, sizeErrors } from '../body-size.ts';
import { invalidFields } from '../errors.ts';
import { problems } from '../field-errors.ts';
import { isId, isUuid } from '../path-ids.ts';
import { isDecodable } from './routing.ts';

/**
 * Prepares what the validator checks. Paths and query strings are converted by their schemas, because AJV's own coercion would
 * also accept `0x10`, `1e3` and the empty string; an empty query parameter counts as absent, an unknown one is refused; an absent
 * body becomes `{}`, so that every missing field is named. What is too large is refused before the validator looks into it.
 */
export const validationPlugin = fastifyPlugin(async (app: FastifyInstance) => {
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
    removeEmpty(request.query);
    convert(request.params, params, readPathId);
    convert(request.query, querystring, readQueryValue);
    if (body !== undefined && request.body === undefined) request.body = {};
    checkSize(request, request.query, querystring);
    checkSize(request, request.body, body);
    done();
  });
});

function checkSize({ server }: FastifyRequest, value: unknown, schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const errors = sizeErrors(value, schema as SizedSchema, (id) => server.getSchema(id));
  if (errors.length > 0) throw invalidFields(errors);
}

function removeEmpty(query: unknown): void {
  const texts = query as Record<string, unknown>;
  for (const name of Object.keys(texts)) if (texts[name] === '') delete texts[name];
}

interface ValueSchema {
  type?: unknown;
  format?: unknown;
}

/** Replaces the texts of an object by the values that its schema expects. */
function convert(
  values: unknown,
  schema: unknown,
  read: (schema: ValueSchema, text: string) => unknown,
): void {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return;
  const texts = values as Record<string, unknown>;
  for (const [name, property] of Object.entries(schema.properties as Record<string, ValueSchema>)) {
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined;
    if (typeof text === 'string') texts[name] = read(property, text);
  }
}

/** What cannot be an id becomes 0, which no row has, so that it ends as that resource's 404, like any unknown id. */
function readPathId({ type, format }: ValueSchema, text: string): unknown {
  if (type === 'integer') return isId(text) ? Number(text) : 0;
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
