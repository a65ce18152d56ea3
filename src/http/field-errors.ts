import { type Static, Type } from '@sinclair/typebox';
import type { FastifySchemaValidationError } from 'fastify';
import type { LocalizedText } from './language.ts';
import { documented, List, Message, NamedObject, Ref, StringEnum, Text } from './schemas.ts';

const FieldErrorCode = StringEnum(
  [
    ...['required', 'unknown_field', 'invalid_type'],
    ...['too_short', 'too_long', 'too_small', 'too_large', 'too_few', 'too_many'],
    ...['invalid_format', 'invalid_characters', 'not_allowed', 'not_found', 'duplicate', 'taken'],
    ...['password_too_common', 'password_contains_identity'],
  ],
  {
    $id: 'FieldErrorCode',
    description: 'What is wrong with a value, for programs; a code never changes its meaning',
  },
);

/** A validation error names no more than this. */
export const maxFieldErrors = 20;

const FieldErrorParams = NamedObject('FieldErrorParams', 'What the text mentions', {
  min: Type.Optional(Type.Number({ description: 'The smallest length, number or count' })),
  max: Type.Optional(Type.Number({ description: 'The largest length, number or count' })),
  allowed: Type.Optional(
    List(Type.String(documented({ maxLength: 100 })), 100, 'All values that are accepted'),
  ),
});

export const FieldErrorSchema = NamedObject('FieldError', 'What is wrong with one value', {
  field: Text('Field name, or JSON pointer for a value inside a field; `body` for the body as a whole', 120),
  code: Ref(FieldErrorCode),
  message: Message('The text in `fields`'),
  params: Type.Optional(Ref(FieldErrorParams)),
});

/** What is wrong with a value: a code and parameters for programs, a text for people. */
export interface Problem {
  code: Static<typeof FieldErrorCode>;
  text: LocalizedText;
  params?: Static<typeof FieldErrorParams> | undefined;
}

/** A problem and the value that has it: a field name, or a JSON pointer (RFC 6901) for a value inside a field. */
export interface FieldError extends Problem {
  field: string;
}

/** How a property is named: a field by its name, a value inside a field by its JSON pointer. */
export function fieldName(property: string, parent = ''): string {
  return nameOf(`${parent}/${property.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

/** The name of what a JSON pointer points to; the body as a whole is `body`. */
function nameOf(pointer: string): string {
  // The client chose the name of an unknown field. It is cut, but never in the middle of a character.
  const cut = pointer.slice(0, 120).toWellFormed();
  if (cut === '') return 'body';
  if (cut.lastIndexOf('/') > 0) return cut;
  return cut.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
}

function problem(code: Problem['code'], [ko, en]: [string, string], params?: Problem['params']): Problem {
  return { code, text: { ko, en }, params };
}

const invalidCharacters = (...texts: [string, string]) => problem('invalid_characters', texts);
const invalidFormat = (...texts: [string, string]) => problem('invalid_format', texts);

/** What is wrong with a text, besides AJV's own `minLength`, `maxLength` and `pattern`. */
const textProblems = {
  control: invalidCharacters('제어 문자는 사용할 수 없습니다.', 'Must not contain control characters.'),
  surrogate: invalidCharacters('올바른 유니코드 문자만 사용할 수 있습니다.', 'Must be well-formed Unicode.'),
  marks: invalidCharacters(
    '겹쳐 쓰는 기호를 너무 많이 사용했습니다.',
    'Must not stack so many combining marks.',
  ),
  invisible: invalidCharacters(
    '보이지 않는 문자나 글의 방향을 바꾸는 문자는 사용할 수 없습니다.',
    'Must not contain invisible or direction-changing characters.',
  ),
  email: invalidFormat(
    '이메일 주소를 name@example.com처럼 입력해 주세요.',
    'Must be an email address such as name@example.com.',
  ),
  phone: invalidFormat(
    '숫자와 하이픈으로 입력해 주세요. 예: 02-123-4567',
    'Must be digits and hyphens, such as 02-123-4567.',
  ),
  date: invalidFormat(
    '달력에 있는 날짜를 2026-01-31처럼 입력해 주세요.',
    'Must be a date of the calendar, such as 2026-01-31.',
  ),
};
export type TextProblem = keyof typeof textProblems;

/** The problems that several fields can have. */
export const problems = {
  ...textProblems,
  notAllowed: (allowed: string[]) =>
    problem(
      'not_allowed',
      [`다음 중 하나여야 합니다: ${allowed.join(', ')}`, `Must be one of: ${allowed.join(', ')}.`],
      { allowed },
    ),
  required: problem('required', ['필수 항목입니다.', 'This field is required.']),
  oneOf: (names: string[]) =>
    problem('required', [
      `다음 중 하나를 보내 주세요: ${names.join(', ')}`,
      `Send one of: ${names.join(', ')}.`,
    ]),
  onlyOneOf: (names: string[]) =>
    problem('unknown_field', [
      `다음 중 하나만 보내 주세요: ${names.join(', ')}`,
      `Send only one of: ${names.join(', ')}.`,
    ]),
  unknownField: problem('unknown_field', ['알 수 없는 항목입니다.', 'This field is not known.']),
  file: problem('invalid_type', ['파일이어야 합니다.', 'Must be a file.']),
  multipart: invalidFormat(
    '본문이 multipart/form-data 형식에 맞지 않거나 끝까지 오지 않았습니다.',
    'Must be complete multipart/form-data with a boundary.',
  ),
};

const characters = { ko: '자', en: 'character' };
const items = { ko: '개', en: 'item' };

/** The problem of a value beyond a limit: of a number, or of a count of the unit. */
const limit =
  (code: Problem['code'], bound: 'min' | 'max', unit?: LocalizedText) =>
  (count: number): Problem => {
    const [ko, en] = bound === 'min' ? ['이상이어야', 'least'] : ['이하여야', 'most'];
    const counted = unit
      ? `have at ${en} ${count} ${unit.en}${count === 1 ? '' : 's'}`
      : `be at ${en} ${count}`;
    return problem(code, [`${count}${unit?.ko ?? ''} ${ko} 합니다.`, `Must ${counted}.`], { [bound]: count });
  };
const tooShort = limit('too_short', 'min', characters);

/** What is wrong with a value beyond the limit of a keyword of JSON Schema. */
export const limitProblems = {
  minLength: (min: number) =>
    min === 1
      ? problem('too_short', ['내용을 입력해 주세요.', 'Must not be blank.'], { min })
      : tooShort(min),
  maxLength: limit('too_long', 'max', characters),
  minimum: limit('too_small', 'min'),
  maximum: limit('too_large', 'max'),
  minItems: limit('too_few', 'min', items),
  maxItems: limit('too_many', 'max', items),
};

/** The keyword of JSON Schema that says what a string's `pattern` demands. */
export const patternTextKeyword = 'patternText';

/** The keyword that says what is missing where a text or a list is empty, in place of all other texts. */
export const emptyTextKeyword = 'emptyText';

/** An error of AJV, which gives the schema and the value with it when it is `verbose`. */
type ValidatorError = FastifySchemaValidationError & {
  parentSchema?: Record<string, unknown>;
  data?: unknown;
};

const stringTexts: [string, string] = ['문자열이어야 합니다.', 'Must be a string.'];
const typeTexts: Record<string, [string, string]> = {
  integer: ['정수여야 합니다.', 'Must be an integer.'],
  number: ['숫자여야 합니다.', 'Must be a number.'],
  boolean: ['true 또는 false여야 합니다.', 'Must be true or false.'],
  array: ['배열이어야 합니다.', 'Must be an array.'],
  object: ['객체여야 합니다.', 'Must be an object.'],
};

/** The problem for each other keyword of JSON Schema that a schema of this service may have. */
const keywordProblems: Record<string, (error: ValidatorError) => Problem> = {
  required: () => problems.required,
  additionalProperties: () => problems.unknownField,
  type: ({ params }) => problem('invalid_type', typeTexts[String([params['type']].flat()[0])] ?? stringTexts),
  enum: ({ params }) => problems.notAllowed([params['allowedValues']].flat().map(String)),
  uniqueItems: () =>
    problem('duplicate', ['같은 값이 두 번 있습니다.', 'Must not contain the same value twice.']),
  minProperties: () =>
    problem('too_few', ['수정할 항목을 하나 이상 보내 주세요.', 'Send at least one field to change.'], {
      min: 1,
    }),
  // Tests reject the second text, so that every pattern has its own.
  pattern: ({ parentSchema }) => ({
    code: 'invalid_format',
    text: (parentSchema?.[patternTextKeyword] as LocalizedText) ?? {
      ko: '형식이 올바르지 않습니다.',
      en: 'The format is not valid.',
    },
  }),
  textRule: ({ params }) => textProblems[params['problem'] as TextProblem],
};

const isLimit = (keyword: string): keyword is keyof typeof limitProblems => keyword in limitProblems;

/** Turns AJV's errors into one error per field and problem. @returns at most {@link maxFieldErrors} */
export function describeErrors(errors: FastifySchemaValidationError[]): FieldError[] {
  const described: FieldError[] = [];
  for (const error of errors) {
    if (described.length === maxFieldErrors) break;
    // The other branch of `RefOrNull`.
    if (error.params['type'] === 'null') continue;
    const { keyword, instancePath, params } = error;
    const found = isLimit(keyword)
      ? limitProblems[keyword](Number(params['limit']))
      : keywordProblems[keyword]?.(error);
    // What is left are keywords such as `oneOf`, which only summarise the errors of their branches.
    if (found === undefined) continue;
    const property = params['missingProperty'] ?? params['additionalProperty'];
    const field = typeof property === 'string' ? fieldName(property, instancePath) : nameOf(instancePath);
    const text = emptyTextOf(error) ?? found.text;
    if (described.some((other) => other.field === field && other.text.en === text.en)) continue;
    described.push({ field, ...found, text });
  }
  return described;
}

function emptyTextOf({ data, parentSchema }: ValidatorError): LocalizedText | undefined {
  const isEmpty = data === '' || (Array.isArray(data) && data.length === 0);
  return isEmpty ? (parentSchema?.[emptyTextKeyword] as LocalizedText | undefined) : undefined;
}
