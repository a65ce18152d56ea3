import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { ApiError, httpErrors } from '../errors.ts';

/**
 * The largest accepted body, in bytes. The longest valid one is a post of 5,000 characters, each written as an escaped
 * pair of surrogates (12 bytes), and ten image addresses.
 */
export const bodyLimit = 128 * 1024;

/** More levels of nesting than any schema has. */
const maxDepth = 16;

/** Accepts JSON in UTF-8 and nothing else. */
export const bodyParserPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
    if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
      return done(new ApiError(httpErrors.unsupportedMediaType));
    }
    // Some clients send the header with an empty body.
    if (body.length === 0) return done(null, undefined);
    try {
      parseJson(request, decoder.decode(body), (error, value) => {
        if (error || isTooDeep(value)) done(new ApiError(httpErrors.malformedJson, { cause: error }));
        else done(null, value);
      });
    } catch (cause) {
      done(new ApiError(httpErrors.malformedJson, { cause }));
    }
  });
});

function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}
