import { type Static, Type } from '@sinclair/typebox';
import * as t from '../../../http/schemas.ts';
import { TextField } from '../../../http/text.ts';
import { flowToken, password, verificationCode } from '../schemas.ts';

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
