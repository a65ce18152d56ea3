import type { FastifySchemaValidationError } from 'fastify';
import { type ApiError, invalidFields } from '../http/errors.ts';
import type { Problem } from '../http/field-errors.ts';
import { describeErrors } from '../http/validation-errors.ts';
import { MarkReadByIds, MarkReadUpTo } from './schemas.ts';

const neither: Problem = {
  code: 'required',
  text: { ko: 'ids와 up_to_id 중 하나를 보내 주세요.', en: 'Send either ids or up_to_id.' },
};
const both: Problem = {
  code: 'not_allowed',
  text: {
    ko: 'ids와 up_to_id를 함께 보낼 수 없습니다. 둘 중 하나만 보내 주세요.',
    en: 'Send only one of ids and up_to_id.',
  },
};

/**
 * Describes what is wrong with a mark-read request. Its body has one of two forms, and the validator reports the errors of
 * both; only those of the form that was meant are shown.
 *
 * @param part of the request that the errors are about: `body` or `querystring`
 */
export function markReadError(errors: FastifySchemaValidationError[], part: string): ApiError {
  const isNoObject = errors.some(({ keyword, instancePath }) => keyword === 'type' && instancePath === '');
  if (part !== 'body' || isNoObject) {
    return invalidFields(describeErrors(errors));
  }
  const missing = errors.filter(({ keyword }) => keyword === 'required');
  if (missing.length !== 1) {
    const problem = missing.length === 0 ? both : neither;
    const forms = ['ids', 'up_to_id'];
    const others = describeErrors(errors).filter(({ field }) => !forms.includes(field));
    return invalidFields([...forms.map((field) => ({ field, ...problem })), ...others]);
  }
  const meant = missing[0]?.params['missingProperty'] === 'ids' ? MarkReadUpTo : MarkReadByIds;
  return invalidFields(
    describeErrors(errors.filter(({ schemaPath }) => schemaPath.startsWith(`${meant.$id}#`))),
  );
}
