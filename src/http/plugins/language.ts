import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { defaultLanguage, negotiateLanguage } from '../language.ts';

/** Negotiates the language of every answer and names it in `Content-Language`. */
export const languagePlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.decorateRequest('language', defaultLanguage);
  app.addHook('onRequest', async (request, reply) => {
    request.language = negotiateLanguage(request.headers['accept-language']);
    reply.headers({ 'content-language': request.language, vary: 'Accept-Language' });
  });
  // A replayed answer keeps the language of the first one, which is known only now.
  app.addHook('onSend', async (request, reply) => {
    reply.header('content-language', request.language);
  });
});
