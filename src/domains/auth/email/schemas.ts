import { type Static, Type } from '@sinclair/typebox';
import * as t from '../../../http/schemas.ts';
import * as auth from '../schemas.ts';

const uid = auth.givenBack('`uid` of the link', 36, '^[0-9a-f-]{36}$');
const linkToken = auth.givenBack('`token` of the link', 100, '^[A-Za-z0-9._-]+$');

export const EmailAddress = t.Body('EmailAddress', 'Where to send a mail', { email: auth.email });
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

export const EmailCode = t.Body('EmailCode', 'The code of a mail', {
  email: auth.email,
  code: auth.verificationCode,
});
export const EmailLink = t.Body('EmailLink', 'The link of a mail', { token: linkToken });
const eitherOfMail = 'Either the code or the link of a mail';
export const EmailConfirmation = t.OneOf('EmailConfirmation', eitherOfMail, [EmailCode, EmailLink]);
export type EmailConfirmation = Static<typeof EmailConfirmation>;
export const EmailVerification = t.NamedObject('EmailVerification', 'A verified address', {
  email: t.Email('The address that is verified'),
  verification_token: auth.Token('Proves the address, once, at `signUp`'),
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
  new_password: auth.newPassword,
});
export type PasswordReset = Static<typeof PasswordReset>;

export const EmailChange = t.Body(
  'EmailChange',
  'The password, and what proves the new address: the `code` that was mailed to it, or a `verification_token`',
  {
    password: auth.optionalPassword,
    new_email: auth.emailField('The new address; converted to lower case'),
    code: Type.Optional(auth.verificationCode),
    verification_token: auth.proof('From the response of `confirmEmail`; without it, `code` is required'),
  },
);
export type EmailChange = Static<typeof EmailChange>;
