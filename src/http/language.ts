import Negotiator from 'negotiator';

/** The languages of messages, notifications and mails; the first is the default. */
export const languages = ['ko', 'en'] as const;
export type Language = (typeof languages)[number];
export const defaultLanguage: Language = languages[0];

/** One text in every language. */
export type LocalizedText = Record<Language, string>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The language of the answer: negotiated from `Accept-Language`, or that of a replayed answer. */
    language: Language;
  }
}

/** Characters of `Accept-Language` that are read; browsers send less than a hundred. */
const maxHeaderLength = 512;

/**
 * Chooses the language of an answer.
 *
 * @param header the `Accept-Language` header, with quality values (RFC 9110, section 12.5.4)
 */
export function negotiateLanguage(header: string | undefined): Language {
  if (header === undefined) return defaultLanguage;
  const preferred = new Negotiator({
    headers: { 'accept-language': header.slice(0, maxHeaderLength) },
  }).language([...languages]);
  return languages.find((language) => language === preferred) ?? defaultLanguage;
}
