import { ApiError, type ErrorDefinition } from '../../http/errors.ts';

/** What `username_taken` and `email_taken` say about the field of the request that chose the name or the address. */
export function takenError(
  field: 'username' | 'email' | 'new_email' | 'token',
  definition: ErrorDefinition,
): ApiError {
  return new ApiError(definition, { fieldErrors: [{ field, code: 'taken', text: definition.text }] });
}
