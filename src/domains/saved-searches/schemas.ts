import { type Static, Type } from '@sinclair/typebox';
import { defineError } from '../../http/errors.ts';
import { Page } from '../../http/pagination.ts';
import { Body, Id, Int32, NamedObject, Ref, StringOrNull, Timestamp } from '../../http/schemas.ts';
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

const IntegerOrNull = (description: string, example: number) =>
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    format: 'int32',
    description,
    examples: [example],
  });

export const SavedSearch = NamedObject(
  'SavedSearch',
  'A saved search; a filter that was not given is `null`',
  {
    id: Int32({ description: 'Identifier', examples: [1] }),
    name: Type.String(name),
    q: StringOrNull({ description: 'A text that posts contain', examples: [null] }),
    category_id: IntegerOrNull('The category of their stores', 13),
    region: StringOrNull({ description: 'The region of their stores', examples: ['망원동'] }),
    near: StringOrNull({
      description: 'Latitude and longitude that their stores are near',
      examples: [null],
    }),
    radius_m: IntegerOrNull('How near, in metres', 1_000),
    created_at: Timestamp('When it was saved'),
  },
);
export type SavedSearch = Static<typeof SavedSearch>;
export const SavedSearchPage = Page('SavedSearchPage', Ref(SavedSearch));
