import { type Static, Type } from '@sinclair/typebox';
import {
  Body,
  Changes,
  documented,
  Flag,
  NamedEnum,
  NamedObject,
  Ref,
  RefOrNull,
} from '../../../http/schemas.ts';
import { Line, pattern, TextField } from '../../../http/text.ts';

const MailLanguage = NamedEnum(
  'MailLanguage',
  'The language of emails that another user causes, and of push messages',
  { ko: 'Korean', en: 'English' },
  { names: ['KOREAN', 'ENGLISH'], examples: ['ko'] },
);

const received = Flag('A new partnership request', true);
const answered = Flag('A request was accepted or declined', true);
const ended = Flag('The other side ended a partnership or withdrew a request', false);
const match = (byDefault: string) => Flag(`A new post matches a saved search; ${byDefault} by default`, true);

const EmailPreferences = NamedObject(
  'EmailPreferences',
  'Which emails the user gets. Codes, links and notices about the account cannot be switched off.',
  {
    partner_request_received: received,
    partner_request_answered: answered,
    // A withdrawal sends no email.
    partner_request_ended: Flag('The other side ended a partnership', false),
    saved_search_match: match('off'),
  },
);

const PushPreferences = NamedObject('PushPreferences', 'Which push messages the user gets', {
  partner_request_received: received,
  partner_request_answered: answered,
  partner_request_ended: ended,
  saved_search_match: match('on'),
});

const time = (description: string, example: string) =>
  TextField('line', {
    ...pattern('^([01][0-9]|2[0-3]):[0-5][0-9]$', {
      ko: '00:00부터 23:59까지의 시각을 HH:MM으로 입력해 주세요.',
      en: 'Must be a time from 00:00 to 23:59, as HH:MM.',
    }),
    maxLength: 5,
    description,
    examples: [example],
  });

const QuietHours = Body(
  'QuietHours',
  'A part of each day in Korea; over midnight where `from` is later than `to`',
  {
    from: time('The first minute, as `HH:MM`', '22:00'),
    to: time('The minute after the last one, as `HH:MM`; not the same as `from`', '08:00'),
  },
);

export const MailPreferences = NamedObject(
  'MailPreferences',
  'How the user wants to get emails and push messages',
  {
    language: Ref(MailLanguage),
    email: Ref(EmailPreferences),
    push: Ref(PushPreferences),
    quiet_hours: RefOrNull(
      QuietHours,
      'When no email about partnerships or saved searches and no push message is sent; `null` without',
    ),
  },
);
export type MailPreferences = Static<typeof MailPreferences>;

const EmailPreferenceChanges = Changes(
  'EmailPreferenceChanges',
  'At least one field',
  EmailPreferences.properties,
);

const PushPreferenceChanges = Changes(
  'PushPreferenceChanges',
  'At least one field',
  PushPreferences.properties,
);

export const MailPreferenceChanges = Changes('MailPreferenceChanges', 'At least one field', {
  language: Ref(MailLanguage),
  email: Ref(EmailPreferenceChanges),
  push: Ref(PushPreferenceChanges),
  quiet_hours: RefOrNull(QuietHours, 'Both times, or `null` to have no quiet hours'),
});
export type MailPreferenceChanges = Static<typeof MailPreferenceChanges>;

export const UnsubscribeQuery = Type.Object({
  token: Line(
    '`token` of the link in an email',
    '1.partner_request_received.Zm9yIGV4YW1wbGUgb25seSwgbm8gc2lnbmF0dXJlIQ',
    { ...documented({ pattern: '^[A-Za-z0-9._-]+$' }), maxLength: 200 },
  ),
});

export const UnsubscribePage = Type.String({
  ...documented({ pattern: '^<!doctype html>', maxLength: 100_000 }),
  $id: 'UnsubscribePage',
  description: 'A page in the language of the request, with a button that sends `unsubscribe`',
  examples: ['<!doctype html>'],
});
