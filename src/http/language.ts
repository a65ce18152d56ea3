import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import Negotiator from 'negotiator';

/** The languages of messages, notifications and emails; the first is the default. */
export const languages = ['ko', 'en'] as const;
export type Language = (typeof languages)[number];
export const defaultLanguage: Language = languages[0];

/** One text in every language. */
export type LocalizedText = Record<Language, string>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The language of the response: negotiated from `Accept-Language`, or that of a stored response. */
    language: Language;
  }
}

/** Characters of `Accept-Language` that are read; browsers send less than a hundred. */
const maxHeaderLength = 512;

/**
 * Chooses the language of a response.
 *
 * @param header the `Accept-Language` header, with quality values (RFC 9110, section 12.5.4)
 */
function negotiateLanguage(header: string | undefined): Language {
  if (header === undefined) return defaultLanguage;
  const preferred = new Negotiator({
    headers: { 'accept-language': header.slice(0, maxHeaderLength) },
  }).language([...languages]);
  return languages.find((language) => language === preferred) ?? defaultLanguage;
}

/** Negotiates the language of every response and names it in `Content-Language`. */
export const languagePlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.decorateRequest('language', defaultLanguage);
  app.addHook('onRequest', (request, reply, done) => {
    request.language = negotiateLanguage(request.headers['accept-language']);
    reply.header('content-language', request.language).header('vary', 'Accept-Language');
    done();
  });
});
