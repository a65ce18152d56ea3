import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { measureJson } from '../body-size.ts';
import { ApiError, httpErrors, invalidFields } from '../errors.ts';
import { problems } from '../field-errors.ts';

/** The largest accepted body, in bytes, where a route sets no other `bodyLimit`. */
export const bodyLimit = 32 * 1024;

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
      const text = decoder.decode(body);
      const size = measureJson(text);
      if (size === 'too deep') return done(new ApiError(httpErrors.malformedJson));
      if (size !== 'accepted')
        return done(invalidFields([{ field: 'body', ...problems.tooMany(size.tooMany) }]));
      parseJson(request, text, (error, value) => {
        if (error) done(new ApiError(httpErrors.malformedJson, { cause: error }));
        else done(null, value);
      });
    } catch (cause) {
      done(new ApiError(httpErrors.malformedJson, { cause }));
    }
  });
});
