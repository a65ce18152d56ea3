import { type StringOptions, type TString, Type } from '@sinclair/typebox';
import type { Ajv, SchemaValidateFunction } from 'ajv';

/**
 * How an incoming string is cleaned and what it must not contain.
 *
 * - `line`: trimmed, one line
 * - `block`: trimmed, may contain line feeds; CRLF becomes LF
 * - `email`: a lower-cased address
 * - `username`: trimmed and case-folded
 * - `secret`: a password; never trimmed
 *
 * All are normalised to Unicode NFC; control characters and unpaired surrogates are refused.
 */
export type TextRule = 'line' | 'block' | 'email' | 'username' | 'secret';

/** The JSON Schema keyword of a string's rule; the OpenAPI document leaves it out. */
export const textRuleKeyword = 'textRule';

/** What is wrong with a text, besides AJV's own `minLength`, `maxLength` and `pattern`. */
export type TextProblem = 'control' | 'surrogate' | 'marks' | 'invisible' | 'blank' | 'email';

/** A string property that is cleaned by a rule before its length and pattern are checked. */
export function TextField(rule: TextRule, options: StringOptions = {}): TString {
  return Type.String({ ...options, [textRuleKeyword]: rule });
}

/**
 * Invisible characters and those that change how the text around them is shown: bidirectional controls (Unicode TR9, the
 * "Trojan Source" set), zero-width space, word joiner, byte order mark. Zero-width (non-)joiners are allowed, because emoji
 * and several scripts need them.
 */
const deceptive =
  /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u;

/**
 * More combining marks in a row than any language stacks (the limit of Unicode's Stream-Safe Text Format, UAX #15, section 13).
 * NFC sorts them in quadratic time: seconds for one request.
 */
const stackedMarks = /\p{M}{31}/u;

/** Text that looks empty: white space, joiners and the Hangul fillers known from "invisible names". */
const blank =
  /^(?:\s|\u00ad|\u034f|\u115f|\u1160|[\u17b4-\u17b5]|[\u180b-\u180f]|\u200c|\u200d|\u2800|\u3164|[\ufe00-\ufe0f]|\uffa0)+$/;

const emailPattern =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;

/**
 * Applies a rule to a text.
 *
 * @returns the cleaned text, or what is wrong with it
 */
export function cleanText(rule: TextRule, raw: string): { text: string } | { problem: TextProblem } {
  if (!raw.isWellFormed()) return { problem: 'surrogate' };
  if (stackedMarks.test(raw)) return { problem: 'marks' };
  const lines = rule === 'block' ? raw.replaceAll('\r\n', '\n') : raw;
  const text = rule === 'secret' ? lines.normalize('NFC') : lines.normalize('NFC').trim();
  const control = rule === 'block' ? /[^\P{Cc}\n]/u : /\p{Cc}/u;
  if (control.test(text)) return { problem: 'control' };
  if (rule === 'secret') return { text };
  if (deceptive.test(text)) return { problem: 'invisible' };
  if (blank.test(text)) return { problem: 'blank' };
  if (rule === 'username') return { text: text.toLowerCase() };
  if (rule === 'email') return cleanEmail(text);
  return { text };
}

function cleanEmail(text: string): { text: string } | { problem: TextProblem } {
  // RFC 5321, section 4.5.3.1: 64 octets before the @, 254 in all. Checked first, so that the pattern runs on short text.
  if (text.length > 254 || text.indexOf('@') > 64) return { problem: 'email' };
  const email = text.toLowerCase();
  return emailPattern.test(email) ? { text: email } : { problem: 'email' };
}

const applyTextRule: SchemaValidateFunction = (rule: TextRule, data: string, _schema, context) => {
  const cleaned = cleanText(rule, data);
  if ('problem' in cleaned) {
    applyTextRule.errors = [{ keyword: textRuleKeyword, params: { problem: cleaned.problem } }];
    return false;
  }
  if (context) Object.assign(context.parentData, { [context.parentDataProperty]: cleaned.text });
  return true;
};

/** Adds the keyword to AJV. It runs before the length is checked, so that the cleaned text is counted. */
export function addTextRules(ajv: Ajv): Ajv {
  return ajv.addKeyword({
    keyword: textRuleKeyword,
    type: 'string',
    schemaType: 'string',
    before: 'maxLength',
    modifying: true,
    errors: true,
    validate: applyTextRule,
  });
}
