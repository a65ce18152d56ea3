import { type Static, Type } from '@sinclair/typebox';
import { EmptyData, StringEnum, Timestamp } from '../http/schemas.ts';
import { pattern, TextField } from '../http/text.ts';

const username = TextField('username', {
  minLength: 4,
  maxLength: 30,
  ...pattern('^[a-z][a-z0-9._-]*$', {
    ko: '영문 소문자로 시작하고 영문 소문자·숫자·. _ -만 쓸 수 있습니다.',
    en: 'Must start with a letter and contain only small letters, digits, ".", "_" and "-".',
  }),
  description: 'Starts with a letter; small letters, digits, `.`, `_`, `-`. Capitals are folded.',
  examples: ['dure_cafe'],
});
const email = TextField('email', { format: 'email', maxLength: 254, examples: ['owner@example.com'] });
const name = TextField('line', { minLength: 1, maxLength: 50, examples: ['김두레'] });
const newPassword = TextField('secret', {
  minLength: 8,
  maxLength: 128,
  format: 'password',
  description: 'Not a common password; contains neither the username nor the local part of the e-mail',
  examples: ['gimbap-and-coffee-7'],
});
/** A password that is only verified: it may have been set under older rules. */
const password = TextField('secret', {
  minLength: 1,
  maxLength: 128,
  format: 'password',
  examples: ['gimbap-and-coffee-7'],
});
const opaque = (description: string, example: string) =>
  TextField('line', { minLength: 1, description, examples: [example] });
const verificationToken = 'c0ffee00-5b1f-4e0e-9a59-0d4a1b2c3d4e.Zm9yIGV4YW1wbGUgb25seQ';
const uid = opaque('`uid` of the link', 'c0ffee00-5b1f-4e0e-9a59-0d4a1b2c3d4e');
const linkToken = opaque('`token` of the link', 'Zm9yIGV4YW1wbGUgb25seS4uLg');
const jwt = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.Zm9yIGV4YW1wbGUgb25seQ';

export const User = Type.Object(
  {
    id: Type.Integer({ examples: [1] }),
    username: Type.String({ examples: ['dure_cafe'] }),
    name: Type.String({ examples: ['김두레'] }),
    email: Type.String({ format: 'email', examples: ['owner@example.com'] }),
    role: StringEnum(['user', 'admin']),
    is_verified: Type.Boolean({ description: 'Whether the e-mail address is verified' }),
  },
  { $id: 'User', additionalProperties: false },
);
export type User = Static<typeof User>;

export const SignupRequest = Type.Object(
  {
    username,
    password: newPassword,
    name,
    email,
    verification_token: Type.Optional(
      opaque('From `email-verify/confirm/`; proves the e-mail address', verificationToken),
    ),
  },
  { $id: 'SignupRequest', additionalProperties: false },
);
export type SignupRequest = Static<typeof SignupRequest>;

export const LoginRequest = Type.Object(
  {
    username: TextField('line', {
      minLength: 1,
      maxLength: 254,
      description: 'The username or the e-mail address',
      examples: ['dure_cafe'],
    }),
    password,
  },
  { $id: 'LoginRequest', additionalProperties: false },
);

const tokenPair = {
  access: Type.String({ description: 'Send it as `Authorization: Bearer <access>`', examples: [jwt] }),
  refresh: Type.String({ description: 'Gives a new pair at `token/refresh/`', examples: [jwt] }),
  token_type: StringEnum(['Bearer']),
  expires_in: Type.Integer({ description: 'Seconds until `access` expires', examples: [900] }),
  refresh_expires_in: Type.Integer({ description: 'Seconds until `refresh` expires', examples: [1209600] }),
};

export const TokenPair = Type.Object(tokenPair, { $id: 'TokenPair' });
export type TokenPair = Static<typeof TokenPair>;

export const LoginResult = Type.Object(
  { ...tokenPair, user: Type.Unsafe<User>({ $ref: 'User#' }) },
  { $id: 'LoginResult' },
);
export type LoginResult = Static<typeof LoginResult>;

const refresh = TextField('line', { minLength: 1, description: 'A refresh token', examples: [jwt] });
export const RefreshRequest = Type.Object(
  { refresh },
  { $id: 'RefreshRequest', additionalProperties: false },
);
export const LogoutRequest = Type.Object(
  { refresh: Type.Optional(refresh) },
  { $id: 'LogoutRequest', additionalProperties: false },
);

export const EmailRequest = Type.Object({ email }, { $id: 'EmailRequest', additionalProperties: false });

const resendAfter = Type.Integer({
  minimum: 0,
  description: 'Seconds until another mail is sent to this address',
  examples: [60],
});
const accepted = Type.Boolean({
  description:
    'Whether the request was accepted; false within the cooldown and beyond the hourly cap of the address, where no mail is sent',
});
export const CodeSent = Type.Object(
  {
    accepted,
    expires_in: Type.Integer({ description: 'Seconds a code is valid', examples: [600] }),
    resend_after: resendAfter,
  },
  { $id: 'CodeSent' },
);
export type CodeSent = Static<typeof CodeSent>;
export const MailSent = Type.Object({ accepted, resend_after: resendAfter }, { $id: 'MailSent' });
export type MailSent = Static<typeof MailSent>;

export const ConfirmEmailRequest = Type.Object(
  {
    email,
    code: TextField('line', {
      ...pattern('^[0-9]{6}$', { ko: '숫자 여섯 자리를 입력해 주세요.', en: 'Must be six digits.' }),
      maxLength: 6,
      description: 'Six digits',
      examples: ['042317'],
    }),
  },
  { $id: 'ConfirmEmailRequest', additionalProperties: false },
);
export const EmailVerification = Type.Object(
  {
    email: Type.String({ format: 'email', examples: ['owner@example.com'] }),
    verification_token: Type.String({
      description: 'Use it once, at sign-up',
      examples: [verificationToken],
    }),
    expires_in: Type.Integer({ description: 'Seconds the token is valid', examples: [1800] }),
  },
  { $id: 'EmailVerification' },
);
export type EmailVerification = Static<typeof EmailVerification>;

export const ResetLinkQuery = Type.Object({ uid, token: linkToken });
export const ResetLink = Type.Object(
  { expires_at: Timestamp('When the link stops working') },
  { $id: 'ResetLink' },
);
export const ResetPasswordRequest = Type.Object(
  { uid, token: linkToken, new_password: newPassword },
  { $id: 'ResetPasswordRequest', additionalProperties: false },
);

export const UpdateUserRequest = Type.Object(
  { name: Type.Optional(name) },
  { $id: 'UpdateUserRequest', additionalProperties: false, minProperties: 1 },
);
export const DeleteUserRequest = Type.Object(
  { password },
  { $id: 'DeleteUserRequest', additionalProperties: false },
);
export const ChangePasswordRequest = Type.Object(
  { current_password: password, new_password: newPassword },
  { $id: 'ChangePasswordRequest', additionalProperties: false },
);

export const Session = Type.Object(
  {
    id: Type.String({ format: 'uuid', examples: ['3f1ab0e2-5b1f-4e0e-9a59-0d4a1b2c3d4e'] }),
    user_agent: Type.String({ examples: ['Mozilla/5.0 (Linux; Android 15)'] }),
    ip: Type.String({ examples: ['203.0.113.7'] }),
    created_at: Timestamp('When the user logged in'),
    last_used_at: Timestamp('When the session was last refreshed'),
    is_current: Type.Boolean({ description: 'Whether this very request belongs to it' }),
  },
  { $id: 'Session' },
);
export type Session = Static<typeof Session>;

/** Registered by `$id`, so that the OpenAPI document names them. */
export const authSchemas = [
  EmptyData,
  User,
  SignupRequest,
  LoginRequest,
  TokenPair,
  LoginResult,
  RefreshRequest,
  LogoutRequest,
  EmailRequest,
  CodeSent,
  MailSent,
  ConfirmEmailRequest,
  EmailVerification,
  ResetLink,
  ResetPasswordRequest,
  UpdateUserRequest,
  DeleteUserRequest,
  ChangePasswordRequest,
  Session,
];
