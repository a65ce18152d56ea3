import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import Negotiator from 'negotiator';

/** The languages that messages, notifications and mails are written in; the first is the default. */
export const languages = ['ko', 'en'] as const;
export type Language = (typeof languages)[number];
export const defaultLanguage: Language = languages[0];

/** One text in every language. */
export type Text = Record<Language, string>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The language the caller prefers, from `Accept-Language`. */
    language: Language;
  }
}

/**
 * Chooses the language of an answer.
 *
 * @param header the `Accept-Language` header, with quality values (RFC 9110, section 12.5.4)
 */
export function negotiateLanguage(header: string | undefined): Language {
  const preferred = new Negotiator({ headers: { 'accept-language': header } }).language([...languages]);
  return languages.find((language) => language === preferred) ?? defaultLanguage;
}

/** Decides the language of every request and says so in the answer. */
export const languagePlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.decorateRequest('language', defaultLanguage);
  app.addHook('onRequest', async (request, reply) => {
    request.language = negotiateLanguage(request.headers['accept-language']);
    reply.headers({ 'content-language': request.language, vary: 'Accept-Language' });
  });
  // A repeated answer is in the language of the first one, which is known only now.
  app.addHook('onSend', async (request, reply) => {
    reply.header('content-language', request.language);
  });
});
