import { type Static, Type } from '@sinclair/typebox';
import * as t from '../../../http/schemas.ts';
import { pattern, TextField } from '../../../http/text.ts';

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
export const NewConsents = t.Body(
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
