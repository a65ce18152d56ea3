import type { FastifySchemaValidationError } from 'fastify';
import { type ApiError, invalidFields } from '../http/errors.ts';
import type { LocalizedText } from '../http/language.ts';
import { describeErrors } from '../http/validation-errors.ts';
import { MarkReadByIds, MarkReadUpTo } from './schemas.ts';

const exactlyOne: LocalizedText = {
  ko: 'ids와 up_to_id 중 하나만 보내야 합니다.',
  en: 'Send exactly one of ids and up_to_id.',
};

/**
 * Describes what is wrong with a mark-read request. Its body has one of two forms, and the validator reports the errors of
 * both; only those of the form that was meant are shown.
 */
export function markReadError(errors: FastifySchemaValidationError[]): ApiError {
  if (errors.some(({ keyword, instancePath }) => keyword === 'type' && instancePath === '')) {
    return invalidFields(describeErrors(errors));
  }
  const missing = errors.filter(({ keyword }) => keyword === 'required');
  if (missing.length !== 1) {
    return invalidFields({ ...describeErrors(errors), ids: [exactlyOne], up_to_id: [exactlyOne] });
  }
  const meant = missing[0]?.params['missingProperty'] === 'ids' ? MarkReadUpTo : MarkReadByIds;
  return invalidFields(
    describeErrors(errors.filter(({ schemaPath }) => schemaPath.startsWith(`${meant.$id}#`))),
  );
}
