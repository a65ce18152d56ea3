import { type Static, Type } from '@sinclair/typebox';
import { NamedEnum, Ref } from '../../../http/schemas.ts';
import { TextField } from '../../../http/text.ts';

const MailLanguage = NamedEnum(
  'MailLanguage',
  [
    { value: 'ko', name: 'KOREAN', description: 'Korean' },
    { value: 'en', name: 'ENGLISH', description: 'English' },
  ],
  { description: 'The language of emails that another user causes', examples: ['ko'] },
);

const received = Type.Boolean({ description: 'A new partnership request', examples: [true] });
const answered = Type.Boolean({ description: 'A request was accepted or declined', examples: [true] });
const ended = Type.Boolean({ description: 'The other side ended a partnership', examples: [false] });

const EmailPreferences = Type.Object(
  { partner_request_received: received, partner_request_answered: answered, partner_request_ended: ended },
  {
    $id: 'MailSwitches',
    description:
      'Which emails the user gets. Codes, links and notices about the account cannot be switched off.',
  },
);

export const MailPreferences = Type.Object(
  { language: Ref(MailLanguage), email: Ref(EmailPreferences) },
  { $id: 'MailPreferences', description: 'How the user wants to get emails' },
);
export type MailPreferences = Static<typeof MailPreferences>;

const atLeastOneField = { description: 'At least one field', additionalProperties: false, minProperties: 1 };

const EmailPreferenceChanges = Type.Object(Type.Partial(EmailPreferences).properties, {
  $id: 'MailSwitchChanges',
  ...atLeastOneField,
});

export const MailPreferenceChanges = Type.Object(
  { language: Type.Optional(Ref(MailLanguage)), email: Type.Optional(Ref(EmailPreferenceChanges)) },
  { $id: 'MailPreferenceChanges', ...atLeastOneField },
);
export type MailPreferenceChanges = Static<typeof MailPreferenceChanges>;

export const UnsubscribeQuery = Type.Object({
  token: TextField('line', {
    minLength: 1,
    maxLength: 200,
    description: '`token` of the link in an email',
    examples: ['1.partner_request_received.Zm9yIGV4YW1wbGUgb25seSwgbm8gc2lnbmF0dXJlIQ'],
  }),
});

export const UnsubscribePage = Type.String({
  $id: 'UnsubscribePage',
  description: 'A page in the language of the request, with a button that sends `unsubscribe`',
  examples: ['<!doctype html>'],
});
