import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { tokenNotValid } from '../../../http/authentication.ts';
import * as t from '../../../http/schemas.ts';
import { Line, pattern, TextField } from '../../../http/text.ts';
import { MailTopic } from '../../../infrastructure/database/generated/enums.ts';
import { partnerRequestTopics } from '../../partner-requests/index.ts';
import { savedSearchTopics } from '../../saved-searches/index.ts';
import type { PreferencesRow } from './repository.ts';

const MailLanguage = t.NamedEnum(
  'MailLanguage',
  'The language of emails that another user causes, and of push messages',
  { ko: 'Korean', en: 'English' },
  ['KOREAN', 'ENGLISH'],
);

/** What users can switch on and off. */
export const topics = { ...partnerRequestTopics, ...savedSearchTopics } satisfies Record<MailTopic, unknown>;

/** Something of each topic, in the order of the enum, which is that of the API. */
const ofEachTopic = <Value>(of: (topic: MailTopic) => Value) =>
  Object.fromEntries(Object.values(MailTopic).map((topic) => [topic, of(topic)])) as Record<MailTopic, Value>;

const EmailPreferences = t.NamedObject(
  'EmailPreferences',
  'Which emails the user gets. Codes, links and notices about the account cannot be switched off.',
  ofEachTopic((topic) => t.Flag(topics[topic].email)),
);

const PushPreferences = t.NamedObject(
  'PushPreferences',
  'Which push messages the user gets',
  ofEachTopic((topic) => t.Flag(topics[topic].push)),
);

const time = (description: string) =>
  TextField('line', {
    ...pattern('^([01][0-9]|2[0-3]):[0-5][0-9]$', {
      ko: '00:00부터 23:59까지의 시각을 HH:MM으로 입력해 주세요.',
      en: 'Must be a time from 00:00 to 23:59, as HH:MM.',
    }),
    maxLength: 5,
    description,
  });

const QuietHours = t.Body(
  'QuietHours',
  'A part of each day in Korea; over midnight where `from` is later than `to`',
  {
    from: time('The first minute, as `HH:MM`'),
    to: time('The minute after the last one, as `HH:MM`; not the same as `from`'),
  },
);

export const MailPreferences = t.NamedObject(
  'MailPreferences',
  'How the user wants to get emails and push messages',
  {
    language: t.Ref(MailLanguage),
    email: t.Ref(EmailPreferences),
    push: t.Ref(PushPreferences),
    quiet_hours: t.RefOrNull(
      QuietHours,
      'When no email about partnerships or saved searches and no push message is sent; `null` without',
    ),
  },
);
export type MailPreferences = Static<typeof MailPreferences>;

const changes = <T extends TProperties>($id: string, properties: T) =>
  t.Changes($id, 'At least one field', properties);

export const MailPreferenceChanges = changes('MailPreferenceChanges', {
  language: t.Ref(MailLanguage),
  email: t.Ref(changes('EmailPreferenceChanges', EmailPreferences.properties)),
  push: t.Ref(changes('PushPreferenceChanges', PushPreferences.properties)),
  quiet_hours: t.RefOrNull(QuietHours, 'Both times, or `null` to have no quiet hours'),
});
export type MailPreferenceChanges = Static<typeof MailPreferenceChanges>;

/** @throws {ApiError} for an account that is gone */
export function toMailPreferences(row: PreferencesRow | null): MailPreferences {
  if (row === null) throw tokenNotValid('access', 'revoked');
  const { quietFrom, quietTo } = row;
  return {
    language: row.language,
    email: ofEachTopic((topic) => !row.mutedMails.includes(topic)),
    push: ofEachTopic((topic) => !row.mutedPushes.includes(topic)),
    quiet_hours: quietFrom === null || quietTo === null ? null : { from: quietFrom, to: quietTo },
  };
}

export const UnsubscribeQuery = Type.Object({
  token: Line('`token` of the link in an email', {
    ...t.documented({ pattern: '^[A-Za-z0-9._-]+$' }),
    maxLength: 200,
  }),
});

export const UnsubscribePage = Type.String({
  ...t.documented({ pattern: '^<!doctype html>', maxLength: 100_000 }),
  $id: 'UnsubscribePage',
  description: 'A page in the language of the request, with a button that sends `unsubscribe`',
});
