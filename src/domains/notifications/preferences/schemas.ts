import { type Static, Type } from '@sinclair/typebox';
import { Changes, NamedEnum, NamedObject, Ref } from '../../../http/schemas.ts';
import { TextField } from '../../../http/text.ts';

const MailLanguage = NamedEnum(
  'MailLanguage',
  'The language of emails that another user causes',
  { ko: 'Korean', en: 'English' },
  { names: ['KOREAN', 'ENGLISH'], examples: ['ko'] },
);

const received = Type.Boolean({ description: 'A new partnership request', examples: [true] });
const answered = Type.Boolean({ description: 'A request was accepted or declined', examples: [true] });
const ended = Type.Boolean({ description: 'The other side ended a partnership', examples: [false] });

const match = Type.Boolean({ description: 'A new post matches a saved search', examples: [false] });

const EmailPreferences = NamedObject(
  'EmailPreferences',
  'Which emails the user gets. Codes, links and notices about the account cannot be switched off.',
  {
    partner_request_received: received,
    partner_request_answered: answered,
    partner_request_ended: ended,
    saved_search_match: match,
  },
);

export const MailPreferences = NamedObject('MailPreferences', 'How the user wants to get emails', {
  language: Ref(MailLanguage),
  email: Ref(EmailPreferences),
});
export type MailPreferences = Static<typeof MailPreferences>;

const EmailPreferenceChanges = Changes(
  'EmailPreferenceChanges',
  'At least one field',
  EmailPreferences.properties,
);

export const MailPreferenceChanges = Changes('MailPreferenceChanges', 'At least one field', {
  language: Ref(MailLanguage),
  email: Ref(EmailPreferenceChanges),
});
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
