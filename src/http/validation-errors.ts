import type { FastifySchemaValidationError } from 'fastify';
import {
  type FieldError,
  fieldName,
  maxFieldErrors,
  type Problem,
  pointerTo,
  problems,
} from './field-errors.ts';
import { patternText, type TextProblem } from './text.ts';

/** An error of AJV, which gives the schema with it when it is `verbose`. */
type ValidatorError = FastifySchemaValidationError & { parentSchema?: Record<string, unknown> };

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
    // Tests refuse this text, so that every pattern has its own.
    text: patternText(parentSchema) ?? { ko: '형식이 올바르지 않습니다.', en: 'The format is not valid.' },
  }),
  textRule: ({ params }) => textProblem(params['problem'] as TextProblem),
};

/** A text of invisible characters only is as if it were empty. */
function textProblem(problem: TextProblem): Problem {
  return problem === 'blank' ? problems.tooShort(1) : problems[problem];
}

/**
 * Turns AJV's errors into one error per field and problem.
 *
 * @returns at most {@link maxFieldErrors}
 */
export function describeErrors(errors: FastifySchemaValidationError[]): FieldError[] {
  const described: FieldError[] = [];
  for (const error of errors) {
    if (described.length === maxFieldErrors) break;
    const problem = keywordProblems[error.keyword]?.(error);
    // What is left are keywords such as `oneOf`, which only summarise the errors of their branches.
    if (problem === undefined) continue;
    const field = fieldOf(error);
    if (described.some((other) => other.field === field && other.text.en === problem.text.en)) continue;
    described.push({ field, ...problem });
  }
  return described;
}

function fieldOf({ keyword, instancePath, params }: FastifySchemaValidationError): string {
  const property = keyword === 'required' ? params['missingProperty'] : params['additionalProperty'];
  return fieldName(typeof property === 'string' ? instancePath + pointerTo(property) : instancePath);
}
