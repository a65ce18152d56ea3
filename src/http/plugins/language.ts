import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { defaultLanguage, negotiateLanguage } from '../language.ts';

/** Negotiates the language of every answer and names it in `Content-Language`. */
export const languagePlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.decorateRequest('language', defaultLanguage);
  app.addHook('onRequest', (request, reply, done) => {
    request.language = negotiateLanguage(request.headers['accept-language']);
    reply.header('content-language', request.language).header('vary', 'Accept-Language');
    done();
  });
});
