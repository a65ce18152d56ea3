import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { invalidFields } from '../errors.ts';
import { problemTexts } from '../validation-errors.ts';
import { isDecodable } from './routing.ts';

/**
 * Converts a value of a query string to the type in its schema. AJV's own coercion would also accept `0x10`, `1e3` and the
 * empty string; here a number is plain decimal digits, and everything else fails validation.
 */
function readQueryValue(schema: unknown, value: unknown): unknown {
  if (typeof value !== 'string' || typeof schema !== 'object' || schema === null) return value;
  const type = 'type' in schema ? schema.type : undefined;
  if (type === 'integer' && /^(0|-?[1-9]\d{0,14})$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** Converts query strings by their schema, and an absent body to `{}`, so that every missing field is named. */
export const validationPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('preValidation', async (request) => {
    const { querystring, body } = request.routeOptions.schema ?? {};
    // The query parser would take it literally.
    if (querystring !== undefined && !isDecodable(request.url))
      throw invalidFields({ query: [problemTexts.surrogate] });
    if (typeof querystring === 'object' && querystring !== null && 'properties' in querystring) {
      const query = request.query as Record<string, unknown>;
      for (const [name, schema] of Object.entries(querystring.properties as Record<string, unknown>)) {
        if (Object.hasOwn(query, name)) query[name] = readQueryValue(schema, query[name]);
      }
    }
    if (body !== undefined && request.body === undefined) request.body = {};
  });
});
