import { type StringOptions, type TString, Type } from '@sinclair/typebox';
import type { Ajv, SchemaValidateFunction } from 'ajv';

/**
 * How a string that comes in is cleaned and what is refused in it.
 *
 * - `line`: trimmed, one line
 * - `block`: trimmed, may hold line feeds; CRLF becomes LF
 * - `email`: a lower-cased address
 * - `username`: trimmed and case-folded
 * - `secret`: a password; never trimmed
 *
 * All are brought into Unicode's NFC, and none may hold control characters or unpaired surrogates.
 */
export type TextRule = 'line' | 'block' | 'email' | 'username' | 'secret';

/** The JSON Schema keyword that carries a string's rule; it is left out of the OpenAPI document. */
export const textRuleKeyword = 'textRule';

/** What is wrong with a text; `minLength`, `maxLength` and `pattern` are AJV's own. */
export type TextProblem = 'control' | 'surrogate' | 'marks' | 'invisible' | 'blank' | 'email';

/** A string property that is cleaned by a rule before its length and pattern are checked. */
export function Text(rule: TextRule, options: StringOptions = {}): TString {
  return Type.String({ ...options, [textRuleKeyword]: rule });
}

/**
 * Characters that change how text around them is shown, or that nobody can see: bidirectional controls
 * (Unicode TR9, the "Trojan Source" set), zero-width space, word joiner, byte order mark. Zero-width (non-)joiners stay,
 * emoji and several scripts need them.
 */
const deceptive =
  /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u;

/**
 * More combining marks in a row than any language stacks (the limit of Unicode's Stream-Safe Text Format, UAX #15, section 13).
 * Sorting them for NFC takes time that grows with the square of their number: seconds for one request's worth.
 */
const stackedMarks = /\p{M}{31}/u;

/** Blank to a reader: white space, joiners and the Hangul fillers that are famous as "invisible names". */
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
  // RFC 5321, section 4.5.3.1: 64 octets before the @, 254 in all. Length first, so that the pattern reads little.
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

/** Teaches AJV the rules. They run before the length is checked, which counts the cleaned text. */
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
