import Negotiator from 'negotiator';

/** The languages of messages, notifications and emails; the first is the default. */
export const languages = ['ko', 'en'] as const;
export type Language = (typeof languages)[number];
export const defaultLanguage: Language = languages[0];

/** One text in every language. */
export type LocalizedText = Record<Language, string>;

/** Characters of `Accept-Language` that are read; browsers send less than a hundred. */
const maxHeaderLength = 512;

/** Chooses the language of a response. @param header the `Accept-Language` header, with quality values (RFC 9110, section 12.5.4) */
export function negotiateLanguage(header: string | undefined): Language {
  const headers = { 'accept-language': header?.slice(0, maxHeaderLength) };
  const preferred = new Negotiator({ headers }).language([...languages]);
  return languages.find((language) => language === preferred) ?? defaultLanguage;
}
