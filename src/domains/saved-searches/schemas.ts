import { type Static, Type } from '@sinclair/typebox';
import { defineError } from '../../http/errors.ts';
import { Page } from '../../http/pagination.ts';
import * as t from '../../http/schemas.ts';
import { Line, whenUnnamed } from '../../http/text.ts';
import { NearFields, regionMatch, textMatch } from '../stores/index.ts';
import type { SavedSearchRow } from './repository.ts';

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

export const NewSavedSearch = t.Body('NewSavedSearch', 'A search to save, with at least one filter', {
  name: Line('Its name', { ...whenUnnamed, maxLength: 50 }),
  q: Type.Optional(
    Line(
      `Only posts whose title or content contains this text, or the name or address of their store. ${textMatch}`,
      100,
    ),
  ),
  category_id: Type.Optional(t.Id('Only posts of stores of this category')),
  region: Type.Optional(Line(`Only posts of stores of this region. ${regionMatch}`, 40)),
  ...NearFields,
});
export type NewSavedSearch = Static<typeof NewSavedSearch>;

export const SavedSearch = t.NamedObject(
  'SavedSearch',
  'A saved search; a filter that was not given is `null`',
  {
    id: t.Id('Identifier'),
    name: t.Text('Its name', 50),
    q: t.OrNull(t.Text('A text that posts contain', 100)),
    category_id: t.OrNull(t.Int32('The category of their stores')),
    region: t.OrNull(t.Text('The region of their stores', 40)),
    near: t.OrNull(
      t.Text('Latitude and longitude that their stores are near', {
        pattern: '^-?[0-9.]+,-?[0-9.]+$',
        maxLength: 40,
      }),
    ),
    radius_m: t.OrNull(t.Int32('How near, in metres')),
    created_at: t.Timestamp('When it was saved'),
  },
);
export const SavedSearchPage = Page('SavedSearchPage', t.Ref(SavedSearch));

/** A saved search as the API shows it. */
export function toSavedSearch(row: SavedSearchRow) {
  const { id, name, q, region, near } = row;
  const filters = { q, category_id: row.categoryId, region, near, radius_m: row.radiusM };
  return { id, name, ...filters, created_at: row.createdAt.toISOString() };
}
