import type { FastifySchemaValidationError } from 'fastify';
import type { FieldTexts } from './errors.ts';
import type { LocalizedText } from './language.ts';
import type { TextProblem } from './text.ts';

/** More failing fields than this help no client. */
const maxFields = 50;

/** Texts of what is wrong with a string. */
export const problemTexts: Record<TextProblem, LocalizedText> = {
  control: { ko: '제어 문자는 쓸 수 없습니다.', en: 'Must not contain control characters.' },
  surrogate: { ko: '올바른 유니코드 문자열이 아닙니다.', en: 'Must be well-formed Unicode.' },
  marks: {
    ko: '결합 문자를 이렇게 많이 겹쳐 쓸 수 없습니다.',
    en: 'Must not stack so many combining marks.',
  },
  invisible: {
    ko: '보이지 않는 문자나 글 방향을 바꾸는 문자는 쓸 수 없습니다.',
    en: 'Must not contain invisible or direction-changing characters.',
  },
  blank: { ko: '내용을 입력해 주세요.', en: 'Must not be blank.' },
  email: { ko: '올바른 이메일 주소가 아닙니다.', en: 'Must be a valid e-mail address.' },
};

type Params = Record<string, unknown>;

const keywordTexts: Record<string, (params: Params) => LocalizedText> = {
  required: () => ({ ko: '필수 항목입니다.', en: 'This field is required.' }),
  additionalProperties: () => ({ ko: '알 수 없는 항목입니다.', en: 'This field is not known.' }),
  type: ({ type }) => typeTexts[String(type)] ?? otherText,
  minLength: ({ limit }) => ({
    ko: `${limit}자 이상이어야 합니다.`,
    en: `Must have at least ${limit} characters.`,
  }),
  maxLength: ({ limit }) => ({
    ko: `${limit}자 이하여야 합니다.`,
    en: `Must have at most ${limit} characters.`,
  }),
  minimum: ({ limit }) => ({ ko: `${limit} 이상이어야 합니다.`, en: `Must be at least ${limit}.` }),
  maximum: ({ limit }) => ({ ko: `${limit} 이하여야 합니다.`, en: `Must be at most ${limit}.` }),
  minItems: ({ limit }) => ({
    ko: `${limit}개 이상이어야 합니다.`,
    en: `Must have at least ${limit} items.`,
  }),
  maxItems: ({ limit }) => ({ ko: `${limit}개 이하여야 합니다.`, en: `Must have at most ${limit} items.` }),
  uniqueItems: () => ({ ko: '같은 값이 두 번 있습니다.', en: 'Must not hold the same value twice.' }),
  minProperties: () => ({ ko: '바꿀 항목이 하나 이상 있어야 합니다.', en: 'Must hold at least one field.' }),
  textRule: ({ problem }) => problemTexts[problem as TextProblem],
};

const otherText: LocalizedText = { ko: '형식이 올바르지 않습니다.', en: 'The format is not valid.' };

const typeTexts: Record<string, LocalizedText> = {
  string: { ko: '문자열 값이어야 합니다.', en: 'Must be a string.' },
  integer: { ko: '정수 값이어야 합니다.', en: 'Must be an integer.' },
  number: { ko: '숫자 값이어야 합니다.', en: 'Must be a number.' },
  boolean: { ko: '참/거짓 값이어야 합니다.', en: 'Must be a boolean.' },
  array: { ko: '배열 값이어야 합니다.', en: 'Must be an array.' },
  object: { ko: '객체 값이어야 합니다.', en: 'Must be an object.' },
};

/**
 * Turns AJV's errors into texts per field.
 *
 * @returns texts by field name, or by JSON pointer (RFC 6901) for a value inside a field; `body` is the body as a whole
 */
export function describeErrors(errors: FastifySchemaValidationError[]): FieldTexts {
  const fields = new Map<string, LocalizedText[]>();
  for (const error of errors) {
    // These only summarise the errors of their branches.
    if (['anyOf', 'oneOf', 'if', 'const'].includes(error.keyword) && errors.length > 1) continue;
    const name = fieldName(error);
    if (fields.size >= maxFields && !fields.has(name)) continue;
    const texts = fields.get(name) ?? [];
    const text = keywordTexts[error.keyword]?.(error.params) ?? otherText;
    if (!texts.some(({ en }) => en === text.en)) texts.push(text);
    fields.set(name, texts);
  }
  return Object.fromEntries(fields);
}

function fieldName(error: FastifySchemaValidationError): string {
  const { missingProperty, additionalProperty } = error.params;
  const property = error.keyword === 'required' ? missingProperty : additionalProperty;
  const suffix =
    typeof property === 'string' ? `/${property.replaceAll('~', '~0').replaceAll('/', '~1')}` : '';
  // The client chose the name of an unknown field. It is cut, but never in the middle of a character.
  const pointer = `${error.instancePath}${suffix}`.slice(0, 120).toWellFormed();
  if (pointer === '') return 'body';
  if (pointer.lastIndexOf('/') > 0) return pointer;
  return pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
}
