import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { ApiError, httpErrors, invalidFields } from '../errors.ts';
import { problems } from '../field-errors.ts';

/** The largest accepted body, in bytes, where a route sets no other `bodyLimit`. */
export const bodyLimit = 32 * 1024;

/**
 * JSON of which what is given replaces what was there (RFC 7396). So does every `PATCH` with plain JSON; its schema says what may
 * be null.
 */
export const mergePatch = 'application/merge-patch+json';

/** Accepts JSON in UTF-8 and nothing else. */
export const bodyParserPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', mergePatch], async (request: FastifyRequest) => {
    const type = (request.headers['content-type'] ?? '').toLowerCase();
    const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/.exec(type)?.[1] ?? 'utf-8';
    const isWrongMethod = type.includes(mergePatch) && request.method !== 'PATCH';
    if (isWrongMethod || !/^utf-?8$/.test(charset)) throw new ApiError(httpErrors.unsupportedMediaType);
    const { content } = await request.readBody();
    // Some clients send the header with an empty body.
    if (content.length === 0) return undefined;
    try {
      const text = decoder.decode(content);
      const size = measureJson(text);
      if (size === 'too deep') throw new ApiError(httpErrors.malformedJson);
      if (size !== 'accepted') throw invalidFields([{ field: 'body', ...problems.tooMany(size.tooMany) }]);
      return await new Promise((resolve, reject) => {
        parseJson(request, text, (error, value) => (error ? reject(error) : resolve(value)));
      });
    } catch (cause) {
      throw cause instanceof ApiError ? cause : new ApiError(httpErrors.malformedJson, { cause });
    }
  });
});

/** More levels of nesting than any schema has. */
const maxDepth = 16;

/** More properties, objects and lists, and more values in all, than any schema allows. */
const maxParts = 1_000;
const maxValues = 10_000;

/** Strings, which may contain anything, and what JSON is structured by. Linear: a string that does not end matches, too. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]:,]/gs;

/**
 * Measures JSON text without parsing it, because parsing thousands of properties costs more than a request.
 *
 * @returns whether it is nested deeper than any schema allows, or the largest count where it has more than that
 */
function measureJson(text: string): 'accepted' | 'too deep' | { tooMany: number } {
  let [depth, parts, values] = [0, 0, 0];
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    if (token === '{' || token === '[' || token === ':') parts++;
    if (token === ',') values++;
    if (depth > maxDepth) return 'too deep';
    if (parts > maxParts) return { tooMany: maxParts };
    if (values > maxValues) return { tooMany: maxValues };
  }
  return 'accepted';
}
