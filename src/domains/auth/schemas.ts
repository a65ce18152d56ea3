import { type Static, Type } from '@sinclair/typebox';
import { Page } from '../../http/pagination.ts';
import * as t from '../../http/schemas.ts';
import { Line, pattern, TextField, whenEmpty, whenUnnamed } from '../../http/text.ts';
import type { UserRow } from './accounts/repository.ts';
import { NewConsents } from './consents/schemas.ts';
import type { SessionRow } from './sessions/repository.ts';

const usernamePattern = '^[a-z][a-z0-9._-]*$';
/** A username of a response. */
export const Username = (description: string) =>
  t.Text(description, { pattern: usernamePattern, maxLength: 30 });
export const username = TextField('username', {
  minLength: 4,
  maxLength: 30,
  ...pattern(usernamePattern, {
    ko: '영문 소문자로 시작하고 영문 소문자·숫자·. _ -만 쓸 수 있습니다.',
    en: 'Must start with a letter and contain only small letters, digits, ".", "_" and "-".',
  }),
  ...whenEmpty('아이디를 입력해 주세요.', 'Enter a username.'),
  description: 'Starts with a letter; letters, digits, `.`, `_`, `-`. Converted to lower case.',
});
export const emailField = (description: string) =>
  TextField('email', { format: 'email', maxLength: 254, description });
export const email = emailField('An email address; converted to lower case');
export const name = Line('How the user is called', { ...whenUnnamed, maxLength: 50 });
const passwordField = (minLength: number, description: string) => {
  return TextField('secret', { minLength, maxLength: 128, format: 'password', description });
};
export const newPassword = passwordField(
  8,
  'Not a common password; contains neither the username nor the local part of the email',
);
/** A password that is only verified: it may have been set under older rules. */
export const password = passwordField(1, 'The current password');
const tokenPattern = '^[0-9a-f-]{36}[.][A-Za-z0-9_-]+$';
/** A token of a login flow or a `verification_token`, in a response. */
export const Token = (description: string) => t.Text(description, { pattern: tokenPattern, maxLength: 100 });
/** What the service made and a client sends back; a wrong one, also an empty one, has an error of its own. */
export const givenBack = (description: string, maxLength: number, pattern: string) =>
  TextField('line', { ...t.documented({ pattern, maxLength }), description });
export const flowToken = (description: string) => givenBack(description, 100, tokenPattern);
export const proof = (description: string) => Type.Optional(flowToken(description));
/** An account with a password always gives it; one without it needs a recent login or confirmation. */
export const optionalPassword = Type.Optional(password);
/** Of an email or an authenticator app. */
export const verificationCode = TextField('code', {
  ...pattern('^[0-9]{6}$', { ko: '숫자 여섯 자리를 입력해 주세요.', en: 'Must be six digits.' }),
  maxLength: 6,
  description: 'Six digits; blanks and hyphens do not matter',
});

const UserRole = t.NamedEnum('UserRole', 'What the user may do', {
  user: 'A shop owner',
  admin: 'May administer the service',
});

export const User = t.NamedObject('User', 'The account of a person', {
  id: t.Id('Identifier'),
  username: Username('The name to log in with'),
  name: t.Text('How the user is called', 50),
  email: t.Email('Where mails go; another name to log in with'),
  role: t.Ref(UserRole),
  is_verified: t.Flag('Whether the email address is verified'),
});
export type User = Static<typeof User>;
/** An account as the API shows it: exactly these fields. */
export function toUser({ id, username, name, email, role, isVerified }: UserRow): User {
  return { id, username, name, email, role, is_verified: isVerified };
}

/** Fields of each kind of sign-up. */
export const signUpFields = {
  name,
  email,
  verification_token: proof('Of `confirmEmail`; proves the email address. Without it, a code is mailed.'),
  consents: Type.Optional(t.Ref(NewConsents)),
};
export const NewUser = t.Body('NewUser', 'An account to create', {
  username,
  password: newPassword,
  ...signUpFields,
});
export type NewUser = Static<typeof NewUser>;

export const UserChanges = t.Changes('UserChanges', 'At least one field', { name });
export type UserChanges = Static<typeof UserChanges>;
export const AccountDeletion = t.Body('AccountDeletion', 'The password, where the account has one', {
  password: optionalPassword,
});
export const PasswordChange = t.Body('PasswordChange', 'The current and the new password', {
  current_password: password,
  new_password: newPassword,
});
export type PasswordChange = Static<typeof PasswordChange>;

export const Confirmation = t.NamedObject('Confirmation', 'A session that may change the ways to log in', {
  confirmed_until: t.Timestamp('Until when'),
});
export type Confirmation = Static<typeof Confirmation>;

const jwtPattern = '^[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]+$';
const Jwt = (description: string) => t.Text(description, { pattern: jwtPattern, maxLength: 2048 });

export const Credentials = t.Body('Credentials', 'Who logs in', {
  username: Line('The username or the email address', 254),
  password,
});
export type Credentials = Static<typeof Credentials>;

const tokenPair = {
  access: Jwt('Access token: send it as `Authorization: Bearer <access>`'),
  refresh: Type.Optional(
    Jwt(
      'Refresh token: gives a new pair at `refreshToken`. Keep the newest one only. Left out with `X-Refresh-Token: cookie`.',
    ),
  ),
  token_type: t.StringEnum(['Bearer'], { description: 'The scheme of the `Authorization` header' }),
  expires_in: t.Int32('Seconds until `access` expires'),
  refresh_expires_in: t.Int32('Seconds until `refresh` expires'),
};

export const TokenPair = t.NamedObject('TokenPair', 'The tokens of a session', tokenPair);
export type TokenPair = Static<typeof TokenPair>;

export const TokenPairWithUser = t.NamedObject(
  'TokenPairWithUser',
  'The tokens of a new session, and who logged in',
  { ...tokenPair, user: t.Ref(User) },
);
export type TokenPairWithUser = Static<typeof TokenPairWithUser>;

const refresh = Type.Optional(
  givenBack(
    'A refresh token; with `X-Refresh-Token: cookie` that of the cookie, unless it is given',
    2048,
    jwtPattern,
  ),
);
export const RefreshBody = t.Body('RefreshBody', 'The session to refresh', { refresh });
export const LogoutBody = t.Body('LogoutBody', 'The session to end, where no access token is sent', {
  refresh,
});

/** `password`, `passkey`, `totp`, `recovery_code` and the ids of providers. */
export const LoginMethods = (description: string) =>
  t.List(Type.String(t.documented({ pattern: '^[a-z][a-z0-9_-]*$', maxLength: 30 })), 10, description);

export const Session = t.NamedObject('Session', 'A device that is logged in', {
  id: t.Uuid('Identifier'),
  user_agent: t.Text('`User-Agent` of the login', 400),
  ip: t.Text('Address of the client at login', { pattern: '^[0-9a-fA-F.:]*$', maxLength: 45 }),
  authenticated_at: t.Timestamp('When the user last proved who they are: by the login, or by `confirmUser`'),
  methods: LoginMethods('How: `password`, `passkey`, `totp`, `recovery_code` and the ids of providers'),
  created_at: t.Timestamp('When the user logged in'),
  last_used_at: t.Timestamp('When the session was last refreshed'),
  is_current: t.Flag('Whether this very request belongs to it'),
});
export function toSession({ id, userAgent, ip, methods, ...times }: SessionRow) {
  return {
    id,
    user_agent: userAgent,
    ip,
    created_at: times.createdAt.toISOString(),
    last_used_at: times.lastUsedAt.toISOString(),
    authenticated_at: times.authenticatedAt.toISOString(),
    methods,
  };
}
export const SessionPage = Page('SessionPage', t.Ref(Session));
