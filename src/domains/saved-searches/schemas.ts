import { type Static, Type } from '@sinclair/typebox';
import { defineError } from '../../http/errors.ts';
import { Page } from '../../http/pagination.ts';
import { Body, Id, Int32OrNull, NamedObject, Ref, Text, TextOrNull, Timestamp } from '../../http/schemas.ts';
import { OptionalTextField, TextField, whenUnnamed } from '../../http/text.ts';
import { NearFields, textMatch } from '../stores/index.ts';

/** Of one user. */
export const maxSavedSearches = 20;

/** Errors of the operations on saved searches. */
export const savedSearchErrors = {
  savedSearchNotFound: defineError(404, 'saved_search_not_found', {
    ko: '저장한 검색을 찾을 수 없습니다.',
    en: 'The saved search was not found.',
  }),
  tooManySavedSearches: defineError(409, 'too_many_saved_searches', {
    ko: `검색은 ${maxSavedSearches}개까지 저장할 수 있습니다.`,
    en: `You can save at most ${maxSavedSearches} searches.`,
  }),
};

const name = { description: 'Its name', examples: ['우리 동네 꽃집'] };

export const NewSavedSearch = Body('NewSavedSearch', 'A search to save, with at least one filter', {
  name: TextField('line', { minLength: 1, maxLength: 50, ...whenUnnamed, ...name }),
  q: OptionalTextField('line', {
    minLength: 1,
    maxLength: 100,
    description: `Only posts whose title or content contains this text, or the name or address of their store. ${textMatch}`,
    examples: ['공동할인'],
  }),
  category_id: Type.Optional(Id('Only posts of stores of this category')),
  region: OptionalTextField('line', {
    minLength: 1,
    maxLength: 40,
    description: 'Only posts of stores of this region: a `sigungu`, its last part, or a `dong`',
    examples: ['망원동'],
  }),
  ...NearFields,
});
export type NewSavedSearch = Static<typeof NewSavedSearch>;

export const SavedSearch = NamedObject(
  'SavedSearch',
  'A saved search; a filter that was not given is `null`',
  {
    id: Id('Identifier'),
    name: Text(name.description, '우리 동네 꽃집', { maxLength: 50 }),
    q: TextOrNull('A text that posts contain', null, { maxLength: 100 }),
    category_id: Int32OrNull('The category of their stores', 13),
    region: TextOrNull('The region of their stores', '망원동', { maxLength: 40 }),
    near: TextOrNull('Latitude and longitude that their stores are near', null, {
      pattern: '^-?[0-9.]+,-?[0-9.]+$',
      maxLength: 40,
    }),
    radius_m: Int32OrNull('How near, in metres', 1_000),
    created_at: Timestamp('When it was saved'),
  },
);
export type SavedSearch = Static<typeof SavedSearch>;
export const SavedSearchPage = Page('SavedSearchPage', Ref(SavedSearch));
