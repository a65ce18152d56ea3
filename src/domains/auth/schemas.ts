import { type Static, Type } from '@sinclair/typebox';
import { Page } from '../../http/pagination.ts';
import * as t from '../../http/schemas.ts';
import { Line, pattern, TextField, whenEmpty, whenUnnamed } from '../../http/text.ts';
import type { UserRow } from './accounts/repository.ts';
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
const emailField = (description: string) =>
  TextField('email', { format: 'email', maxLength: 254, description });
const email = emailField('An email address; converted to lower case');
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
const givenBack = (description: string, maxLength: number, pattern: string) =>
  TextField('token', { ...t.documented({ pattern, maxLength }), description });
export const flowToken = (description: string) => givenBack(description, 100, tokenPattern);
const proof = (description: string) => Type.Optional(flowToken(description));
/** An account with a password always gives it; one without it needs a recent login or confirmation. */
const optionalPassword = Type.Optional(password);
/** Of an email or an authenticator app. */
const verificationCode = TextField('code', {
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

const ConsentId = t.NamedEnum('ConsentId', 'What users agree to', {
  terms: 'The terms of use',
  privacy: 'The privacy policy',
  marketing: 'Emails that advertise',
});

const Consent = t.NamedObject('Consent', 'What users can agree to', {
  id: t.Ref(ConsentId),
  version: t.Day('The current version, a date'),
  url: t.Url('Where it can be read'),
  required: t.Flag('Whether a sign-up needs it'),
});
export const ConsentList = t.NamedObject('ConsentList', 'What users can agree to', {
  items: t.List(t.Ref(Consent), 3, 'In the order in which a page shows them'),
});

const version = (description: string) =>
  TextField('line', {
    ...pattern('^[0-9]{4}-[0-9]{2}-[0-9]{2}$', {
      ko: '2026-01-31과 같은 날짜여야 합니다.',
      en: 'Must be a date such as 2026-01-31.',
    }),
    maxLength: 10,
    description,
  });
const answers = {
  terms: version('The `version` of the terms of use that the user agrees to'),
  privacy: version('The `version` of the privacy policy that the user agrees to'),
  marketing: t.Flag('Whether the user wants emails that advertise'),
};

/** Which of them a sign-up needs depends on the configuration. */
const NewConsents = t.Body(
  'NewConsents',
  'What the user agrees to: at least what `listConsents` says is required',
  {
    ...Type.Partial(Type.Object(answers)).properties,
    is_14_or_older: Type.Optional(
      Type.Unsafe<true>({
        type: 'boolean',
        enum: [true],
        description: 'That the user is 14 or older; needed where something is required',
      }),
    ),
  },
);
export type NewConsents = Static<typeof NewConsents>;

export const ConsentChanges = t.Changes('ConsentChanges', 'At least one field', answers);
export type ConsentChanges = Static<typeof ConsentChanges>;

const GivenConsent = t.NamedObject('GivenConsent', 'The latest answer of a user', {
  id: t.Ref(ConsentId),
  version: t.OrNull(t.Day('What the answer is about; `null` where it had no version')),
  given_at: t.OrNull(t.Timestamp('When the user last agreed; `null`: never')),
  withdrawn_at: t.OrNull(t.Timestamp('When the user refused or withdrew it; `null` while it is given')),
  is_current: t.Flag('Whether the user agrees to the current version'),
});
export const GivenConsents = t.NamedObject('GivenConsents', 'The answers of a user', {
  items: t.List(t.Ref(GivenConsent), 3, 'The latest answer to each question'),
});

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

const uid = givenBack('`uid` of the link', 36, '^[0-9a-f-]{36}$');
const linkToken = givenBack('`token` of the link', 100, '^[A-Za-z0-9._-]+$');

export const EmailAddress = t.Body('EmailAddress', 'Where to send a mail', { email: email });
const resendAfter = t.Int32('Seconds until another mail is sent to this address');
const accepted = t.Flag(
  'Whether the request was accepted; false within the cooldown and beyond the hourly cap of the address, where no mail is sent',
);
export const CodeSent = t.NamedObject('CodeSent', 'The same for any address, known or not', {
  accepted,
  expires_in: t.Int32('Seconds a code is valid'),
  resend_after: resendAfter,
});
export const MailSent = t.NamedObject('MailSent', 'The same for any address, known or not', {
  accepted,
  resend_after: resendAfter,
});

export const EmailCode = t.Body('EmailCode', 'The code of a mail', { email: email, code: verificationCode });
export const EmailLink = t.Body('EmailLink', 'The link of a mail', { token: linkToken });
const eitherOfMail = 'Either the code or the link of a mail';
export const EmailConfirmation = t.OneOf('EmailConfirmation', eitherOfMail, [EmailCode, EmailLink]);
export type EmailConfirmation = Static<typeof EmailConfirmation>;
export const EmailVerification = t.NamedObject('EmailVerification', 'A verified address', {
  email: t.Email('The address that is verified'),
  verification_token: Token('Proves the address, once, at `signUp`'),
  expires_in: t.Int32('Seconds the token is valid'),
});

export const ResetLinkQuery = Type.Object({ uid, token: linkToken });
export type ResetLinkParts = Static<typeof ResetLinkQuery>;
export const ResetLink = t.NamedObject('ResetLink', 'A link that works', {
  expires_at: t.Timestamp('When the link stops working'),
});
export const PasswordReset = t.Body('PasswordReset', 'The link of a mail and a new password', {
  uid,
  token: linkToken,
  new_password: newPassword,
});
export type PasswordReset = Static<typeof PasswordReset>;

export const EmailChange = t.Body(
  'EmailChange',
  'The password, and what proves the new address: the `code` that was mailed to it, or a `verification_token`',
  {
    password: optionalPassword,
    new_email: emailField('The new address; converted to lower case'),
    code: Type.Optional(verificationCode),
    verification_token: proof('From the response of `confirmEmail`; without it, `code` is required'),
  },
);
export type EmailChange = Static<typeof EmailChange>;

/** Of an authenticator app, or a recovery code. */
const secondFactorCode = TextField('code', {
  minLength: 6,
  maxLength: 30,
  description: 'Six digits of the authenticator app, or a recovery code; blanks and hyphens do not matter',
});

export const PasswordConfirmation = t.Body('PasswordConfirmation', 'The password', { password });
export const CodeConfirmation = t.Body('CodeConfirmation', 'A code of the second factor', {
  code: secondFactorCode,
});
export const ConfirmationBody = t.OneOf('ConfirmationBody', 'Either the password or a code', [
  PasswordConfirmation,
  CodeConfirmation,
]);
export type ConfirmationBody = Static<typeof ConfirmationBody>;

export const SecondFactor = t.NamedObject('SecondFactor', 'What a login needs besides the password', {
  totp_enabled_at: t.OrNull(
    t.Timestamp('Since when codes are asked for; `null` while the second factor is off'),
  ),
  recovery_codes_left: t.Int32('Recovery codes that were not used yet'),
  passkeys: t.Int32('Passkeys of the account: a login with one needs no code'),
});

export const TotpSecret = t.NamedObject('TotpSecret', 'A secret for an authenticator app, shown once', {
  secret: t.Text('In base32, to type it', { pattern: '^[A-Z2-7]+$', maxLength: 32 }),
  otpauth_uri: t.Text('The same for a QR code', { format: 'uri', maxLength: 1000 }),
});

export const TotpCode = t.Body('TotpCode', 'A code of the authenticator app', { code: verificationCode });

export const RecoveryCodes = t.NamedObject(
  'RecoveryCodes',
  'Codes in place of those of the app, shown once',
  {
    recovery_codes: t.List(
      Type.String(t.documented({ pattern: '^[a-z2-7]{4}(-[a-z2-7]{4}){3}$', maxLength: 19 })),
      10,
      'Ten; each works once. Neither case nor hyphens matter',
    ),
  },
);

export const SecondFactorLogin = t.Body('SecondFactorLogin', 'What completes a login', {
  second_factor_token: flowToken('Of `second_factor_required`'),
  code: secondFactorCode,
});
export type SecondFactorLogin = Static<typeof SecondFactorLogin>;
