import { Type } from '@sinclair/typebox';
import { FieldErrorCode, FieldErrorParams, FieldErrorSchema, maxFieldErrors } from './field-errors.ts';
import { Int32, NamedEnum, Ref, StringEnum } from './schemas.ts';

/** Fields of a failure that names single values. */
export const fieldErrorFields = {
  fields: Type.Unsafe<Record<string, string[]>>({
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
    description: 'Field name, or JSON pointer for a value inside a field, to what is wrong with it',
    examples: [{ name: ['필수 항목입니다.'] }],
  }),
  errors: Type.Array(Ref(FieldErrorSchema), {
    maxItems: maxFieldErrors,
    description: 'The same for programs: one for each text in `fields`, in the same order',
    examples: [[{ field: 'name', code: 'required', message: '필수 항목입니다.' }]],
  }),
};

/** The field of every 429. */
export const retryAfterField = {
  retry_after: Int32({ minimum: 1, description: 'Seconds until another try makes sense', examples: [30] }),
};

const TokenNotValidMessage = Type.Object(
  {
    token_class: StringEnum(['AccessToken', 'RefreshToken'], { description: 'The class of the token' }),
    token_type: StringEnum(['access', 'refresh'], { description: 'The type of the token' }),
    message: Type.String({
      description: 'What is wrong with it, for people',
      examples: ['유효하지 않거나 만료된 토큰입니다.'],
    }),
  },
  { $id: 'TokenNotValidMessage', description: 'The token that was refused' },
);

const TokenNotValidReason = NamedEnum(
  'TokenNotValidReason',
  [
    { value: 'malformed', name: 'MALFORMED', description: 'Not a token of this service: log in again' },
    {
      value: 'expired',
      name: 'EXPIRED',
      description: 'Of an access token: refresh it; of a refresh token: log in again',
    },
    { value: 'revoked', name: 'REVOKED', description: 'The session has ended: log in again' },
    {
      value: 'reused',
      name: 'REUSED',
      description: 'The refresh token was replaced earlier, so the session was ended: log in again',
    },
    {
      value: 'wrong_type',
      name: 'WRONG_TYPE',
      description: 'A refresh token where an access token belongs, or the reverse: send the other one',
    },
  ],
  {
    description:
      'Why the token is refused. Refresh on `expired` of an access token; after every other reason, and after any failure of `refreshToken` with 401, log in again.',
    examples: ['expired'],
  },
);

/** Fields of a refused token. */
export const tokenNotValidFields = {
  messages: Type.Array(Ref(TokenNotValidMessage), { description: 'One entry: the token that was refused' }),
  reason: Ref(TokenNotValidReason),
};

/** Schemas of failures, to which every operation refers. */
export const failureSchemas = [
  FieldErrorCode,
  FieldErrorParams,
  FieldErrorSchema,
  TokenNotValidMessage,
  TokenNotValidReason,
];
