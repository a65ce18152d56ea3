import type { FastifySchemaValidationError } from 'fastify';
import {
  type FieldError,
  fieldName,
  maxFieldErrors,
  type Problem,
  pointerTo,
  problems,
  type TextProblem,
} from './field-errors.ts';
import type { LocalizedText } from './language.ts';

/** The JSON Schema keyword that says what a string's `pattern` demands. */
export const patternTextKeyword = 'patternText';

/** The keyword that says what is missing where a text or a list is empty, in place of all other texts. */
export const emptyTextKeyword = 'emptyText';

/** An error of AJV, which gives the schema and the value with it when it is `verbose`. */
type ValidatorError = FastifySchemaValidationError & {
  parentSchema?: Record<string, unknown>;
  data?: unknown;
};

/** The problem for each keyword of JSON Schema that a schema of this service may have. */
const keywordProblems: Record<string, (error: ValidatorError) => Problem> = {
  required: () => problems.required,
  additionalProperties: () => problems.unknownField,
  type: ({ params }) => problems.type(String(params['type'])),
  enum: ({ params }) => problems.notAllowed([params['allowedValues']].flat().map(String)),
  minLength: ({ params }) => problems.tooShort(Number(params['limit'])),
  maxLength: ({ params }) => problems.tooLong(Number(params['limit'])),
  minimum: ({ params }) => problems.tooSmall(Number(params['limit'])),
  maximum: ({ params }) => problems.tooLarge(Number(params['limit'])),
  minItems: ({ params }) => problems.tooFew(Number(params['limit'])),
  maxItems: ({ params }) => problems.tooMany(Number(params['limit'])),
  uniqueItems: () => problems.duplicate,
  minProperties: () => problems.nothingToChange,
  pattern: ({ parentSchema }) => ({
    code: 'invalid_format',
    // Tests reject this text, so that every pattern has its own.
    text: (parentSchema?.[patternTextKeyword] as LocalizedText) ?? {
      ko: '형식이 올바르지 않습니다.',
      en: 'The format is not valid.',
    },
  }),
  textRule: ({ params }) => problems[params['problem'] as TextProblem],
};

/**
 * Turns AJV's errors into one error per field and problem.
 *
 * @returns at most {@link maxFieldErrors}
 */
export function describeErrors(errors: FastifySchemaValidationError[]): FieldError[] {
  const described: FieldError[] = [];
  for (const error of errors) {
    if (described.length === maxFieldErrors) break;
    // The other branch of `RefOrNull`.
    if (error.params['type'] === 'null') continue;
    const problem = keywordProblems[error.keyword]?.(error);
    // What is left are keywords such as `oneOf`, which only summarise the errors of their branches.
    if (problem === undefined) continue;
    const field = fieldOf(error);
    const text = emptyTextOf(error) ?? problem.text;
    if (described.some((other) => other.field === field && other.text.en === text.en)) continue;
    described.push({ field, ...problem, text });
  }
  return described;
}

function emptyTextOf({ data, parentSchema }: ValidatorError): LocalizedText | undefined {
  const isEmpty = data === '' || (Array.isArray(data) && data.length === 0);
  return isEmpty ? (parentSchema?.[emptyTextKeyword] as LocalizedText | undefined) : undefined;
}

function fieldOf({ keyword, instancePath, params }: FastifySchemaValidationError): string {
  const property = keyword === 'required' ? params['missingProperty'] : params['additionalProperty'];
  return fieldName(typeof property === 'string' ? instancePath + pointerTo(property) : instancePath);
}
