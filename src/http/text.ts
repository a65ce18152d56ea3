import { type StringOptions, type TString, Type } from '@sinclair/typebox';
import type { Ajv, SchemaValidateFunction } from 'ajv';
import { isDate } from '../infrastructure/times.ts';
import { emptyTextKeyword, patternTextKeyword, type TextProblem } from './field-errors.ts';
import type { LocalizedText } from './language.ts';
import { type Limits, limitsOf } from './schemas.ts';

/**
 * How an incoming string is cleaned and what it must not contain.
 *
 * - `line`: trimmed, one line
 * - `block`: trimmed, may contain line feeds; CRLF becomes LF, a tab a space
 * - `email`: a lower-cased address
 * - `username`: trimmed and case-folded
 * - `phone`: digits in groups joined by hyphens, or empty; full-width characters become others, invisible ones are dropped
 * - `code`: the same without blanks and hyphens, such as a verification code
 * - `date`: a day that exists, as `2026-01-31`
 * - `url`: as `line`, but its length counts before it is normalised
 * - `secret`: a password; never trimmed
 * - `token`: what the service made and a client gives back, trimmed; empty where it is not visible ASCII
 *
 * All others are normalised to Unicode NFC; control characters and unpaired surrogates are rejected.
 */
type TextRule = 'line' | 'block' | 'email' | 'username' | 'phone' | 'code' | 'date' | 'url' | 'secret';

/** The JSON Schema keyword of a string's rule. */
const textRuleKeyword = 'textRule';

/** Keywords that the OpenAPI document leaves out. */
export const internalKeywords: readonly string[] = [
  textRuleKeyword,
  patternTextKeyword,
  emptyTextKeyword,
  // Generators make sets of such lists, which keep no order.
  'uniqueItems',
];

/** A string property that is cleaned by a rule before its length and pattern are checked. */
export function TextField(rule: TextRule | 'token', options: StringOptions = {}): TString {
  return Type.String({ ...options, [textRuleKeyword]: rule });
}

/** A line that is not empty. */
export const Line = (description: string, limits: Limits) =>
  TextField('line', { minLength: 1, ...limitsOf(limits), description });

/** The same, which may contain line feeds. */
export const Block = (description: string, maxLength: number) =>
  TextField('block', { minLength: 1, maxLength, description });

/** A line that may be empty or left out. */
export const OptionalLine = (description: string, maxLength: number) =>
  Type.Optional(TextField('line', { maxLength, description }));

/** The same, which may contain line feeds. */
export const OptionalBlock = (description: string, maxLength: number) =>
  Type.Optional(TextField('block', { maxLength, description }));

/** The options of a string with a pattern. @param text what the pattern demands, for people */
export function pattern(pattern: string, text: LocalizedText): StringOptions {
  return { pattern, [patternTextKeyword]: text };
}

/** The option of a text or a list that says what is missing where it is empty. */
export const whenEmpty = (ko: string, en: string) => ({
  [emptyTextKeyword]: { ko, en } satisfies LocalizedText,
});

export const whenUnnamed = whenEmpty('이름을 입력해 주세요.', 'Enter a name.');

/**
 * Invisible characters and those that change how the text around them is shown: bidirectional controls (Unicode TR9), deprecated
 * format characters, soft hyphen, zero-width space, byte order mark, tags. Zero-width (non-)joiners are allowed: emoji need them.
 */
const deceptive =
  /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;

/** The flags of England, Scotland and Wales, the only ones of Unicode's recommended emoji that have tags. */
const tagFlags =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;

/** Line and paragraph separators, which trimming would remove, and code points that are no characters. */
const neverText = /[\u2028\u2029]|\p{Noncharacter_Code_Point}/u;

/** More combining marks in a row than any language stacks (Unicode's UAX #15, section 13). NFC sorts them in quadratic time. */
const maxStackedMarks = 30;

/**
 * Anything but printable ASCII, Hangul, Hanja and emoji. Other text has nothing to reject but blank Hangul, and needs no slow search.
 */
const unusual = /[^\x20-\x7e\u1100-\u11ff\u3131-\u318e\u4e00-\u9fff\uac00-\ud7a3\ud83c-\ud83e\udc00-\udfff]/;

/** Text that looks empty: white space, joiners, fillers; the empty Braille pattern and the null notehead are not ignorable. */
const blank = /^[\s\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]+$/u;

const emailPattern =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;

/** Applies a rule to a text. @returns the cleaned text, or what is wrong with it */
export function cleanText(rule: TextRule, raw: string): { text: string } | { problem: TextProblem } {
  const characters = cleanCharacters(rule, raw);
  if ('problem' in characters) return characters;
  const { text } = characters;
  if (rule === 'username') return { text: text.toLowerCase() };
  if (rule === 'date') return isDate(text) ? { text } : { problem: rule };
  if (rule === 'code') return { text: text.replace(/[\s\p{Pd}\u2212]/gu, '') };
  if (rule !== 'email' && rule !== 'phone') return { text };
  const formatted = rule === 'email' ? cleanEmail(text) : cleanPhoneNumber(text);
  return formatted === undefined ? { problem: rule } : { text: formatted };
}

function cleanCharacters(rule: TextRule, raw: string): { text: string } | { problem: TextProblem } {
  if (!raw.isWellFormed()) return { problem: 'surrogate' };
  const isUsual = !unusual.test(raw);
  if (!isUsual && hasStackedMarks(raw)) return { problem: 'marks' };
  if (rule === 'secret') {
    const text = raw.normalize('NFC');
    return /\p{Cc}/u.test(text) ? { problem: 'control' } : { text };
  }
  if (!isUsual && neverText.test(raw)) return { problem: 'invisible' };
  const lines = rule === 'block' ? raw.replaceAll('\r\n', '\n').replaceAll('\t', ' ') : raw;
  const isNumber = rule === 'phone' || rule === 'code';
  const normalized = isNumber ? lines.normalize('NFKC').replace(/\p{Cf}/gu, '') : lines.normalize('NFC');
  const text = normalized.trim();
  if (!isUsual) {
    const control = rule === 'block' ? /[^\P{Cc}\n]/u : /\p{Cc}/u;
    if (control.test(text)) return { problem: 'control' };
    if (deceptive.test(text.replace(tagFlags, ''))) return { problem: 'invisible' };
  }
  return { text: blank.test(text) ? '' : text };
}

/** In linear time: a pattern with a count would begin again at every mark. */
function hasStackedMarks(text: string): boolean {
  const runs = text.match(/\p{M}+/gu) ?? [];
  return runs.some((run) => run.length > maxStackedMarks && [...run].length > maxStackedMarks);
}

/** @returns undefined for what is no email address */
function cleanEmail(text: string): string | undefined {
  // RFC 5321, section 4.5.3.1: 64 octets before the @, 254 in all. Checked first, so that the pattern runs on short text.
  if (text.length > 254 || text.indexOf('@') > 64) return undefined;
  const email = text.toLowerCase();
  return emailPattern.test(email) ? email : undefined;
}

/** What people type between groups of digits: `02) 123-4567`, `010.1234.5678`, `010 - 1234 - 5678`. */
const separators = /\s*[-.)\u2010-\u2015\u2212]\s*|\s+/g;

/**
 * Groups of digits joined by hyphens. With a leading 0 a Korean number: area or service code, 3 or 4 digits, 4 digits. Else 8 to 15
 * digits (ITU-T E.164): a nationwide number as 1588-1234, or one with its country code. A check of the database says the same.
 */
const phoneNumber = /^(0[1-9]\d{0,2}-?\d{3,4}-?\d{4}|[1-9](-?\d){7,14})$/;

/** Digits of a Korean number: `02` or a code of three digits, or `050x`; or a nationwide number such as 1588-1234. */
const koreanGroups = /^(02|050\d|0\d\d)(\d{3,4})(\d{4})$|^(1[5-9]\d\d)(\d{4})$/;

/** Brings a phone number into the shape in which it is kept: `+82` becomes 0, digits get the usual groups. @returns undefined for others */
function cleanPhoneNumber(text: string): string | undefined {
  if (text === '') return text;
  // In +82 (0)10 the 0 is dialled at home only.
  const grouped = text
    .replace(/^(\+\d+|82)([\s.-]*)\(0\)/, '$1$2')
    .replaceAll('(', '')
    .replace(separators, '-');
  // Without +, 82 is the country code where a Korean number follows. Nationwide numbers have no leading 0.
  const national = grouped
    .replace(/^(?:\+82|82(?=-?0?[1-9]\d{0,2}-?\d{3,4}-?\d{4}$))(?!-?1[5-9]\d\d-?\d{4}$)-?0?/, '0')
    .replace(/^\+?(82-?(?=1[5-9]\d\d-?\d{4}$))?/, '');
  if (!phoneNumber.test(national)) return undefined;
  if (/^\d+-\d{3,4}-\d{4}$|^[1-9]\d*-/.test(national)) return national;
  const [, ...groups] = koreanGroups.exec(national.replaceAll('-', '')) ?? [];
  return groups.filter(Boolean).join('-') || national;
}

/** Whether a text is longer than `maxLength` characters however it is cleaned. At most that many characters are looked at. */
function isTooLong(rule: TextRule, text: string, maxLength: number): boolean {
  // NFC composes at most four code units into one.
  if (rule !== 'url') return text.length > 4 * maxLength;
  let count = 0;
  for (const _ of text) if (++count > maxLength) return true;
  return false;
}

const applyTextRule: SchemaValidateFunction = (rule: TextRule | 'token', data: string, schema, context) => {
  const replaceBy = (text: string) => {
    if (context) Object.assign(context.parentData, { [context.parentDataProperty]: text });
    return true;
  };
  if (rule === 'token') return replaceBy(/^[!-~]+$/.exec(data.trim())?.[0] ?? '');
  const maxLength: number = schema?.maxLength ?? data.length;
  // What stays too long is cut and not looked into. The validator rejects it next; a character has at most two code units.
  const trimmed = rule === 'secret' ? data : data.trim();
  if (data.length > maxLength && isTooLong(rule, trimmed, maxLength)) {
    return replaceBy(trimmed.slice(0, 2 * maxLength + 2));
  }
  const cleaned = cleanText(rule, data);
  if ('problem' in cleaned) {
    const { problem } = cleaned;
    // The validator adds the schema to errors of its own keywords only.
    applyTextRule.errors = [
      { keyword: textRuleKeyword, params: { problem }, ...(schema && { parentSchema: schema }) },
    ];
    return false;
  }
  return replaceBy(cleaned.text);
};

/** Adds the keyword to AJV. It runs before the length is checked, so that the cleaned text is counted. */
export function addTextRules(ajv: Ajv): Ajv {
  return ajv
    .addKeyword({ keyword: patternTextKeyword, schemaType: 'object' })
    .addKeyword({ keyword: emptyTextKeyword, schemaType: 'object' })
    .addKeyword({
      keyword: textRuleKeyword,
      type: 'string',
      schemaType: 'string',
      before: 'maxLength',
      modifying: true,
      errors: true,
      validate: applyTextRule,
    });
}
