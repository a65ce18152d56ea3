import { type Static, Type } from '@sinclair/typebox';
import { defineError } from '../../http/errors.ts';
import { Page } from '../../http/pagination.ts';
import * as t from '../../http/schemas.ts';
import { Line, OptionalBlock, OptionalLine, TextField, whenEmpty, whenUnnamed } from '../../http/text.ts';
import type { ImageUrls } from '../images/index.ts';
import type { ListedStoreRow, StoreRow, StoreSummaryRow } from './repository.ts';
import { Distance } from './search.ts';

/** Errors of the operations on stores. */
export const storeErrors = {
  storeNotFound: defineError(404, 'store_not_found', {
    ko: '가게를 찾을 수 없습니다.',
    en: 'The store was not found.',
  }),
  storeExists: defineError(409, 'store_exists', {
    ko: '이미 등록하신 가게가 있습니다.',
    en: 'You have already registered a store.',
  }),
};

export const StoreCategory = t.NamedObject('StoreCategory', 'What kind of business a store is', {
  id: t.Id('Identifier'),
  name: t.Text('In Korean', 50),
});

const StoreCategoryListItem = t.NamedObject('StoreCategoryListItem', 'A category in the list of all', {
  ...StoreCategory.properties,
  name_en: t.Text('In English', 50),
});

const summary = {
  id: t.Id('Identifier'),
  name: t.Text('Its name', 50),
  store_categories: Type.Array(t.Ref(StoreCategory), {
    ...t.documented({ minItems: 1, maxItems: 5 }),
    description: 'One to five, in the order the owner gave',
  }),
};

/** A store in short: exactly these fields, wherever it appears. */
export const StoreSummary = t.NamedObject('StoreSummary', 'A store in short', summary);
export type StoreSummary = Static<typeof StoreSummary>;

const presentation = {
  description: t.Text('What it is like; may contain line feeds', 2000),
  address: t.Text('Where it is', 200),
};

export const StoreListItem = t.NamedObject(
  'StoreListItem',
  'A store in the directory; an address or description never given is an empty string',
  {
    ...summary,
    ...presentation,
    thumbnail: t.Url(
      'The thumbnail of its newest post; where that has no image, or there is no post, an image of its first category',
    ),
    distance_m: Distance,
  },
);
export type StoreListItem = Static<typeof StoreListItem>;

/** Where an address says that a store is. */
export const Region = t.NamedObject(
  'Region',
  'Read from the address; what it does not tell is an empty string',
  {
    sido: t.Text('The short name of the province', 200),
    sigungu: t.Text(
      'City, county or district, of a large city with its district: `성남시 분당구`. 세종 has none.',
      200,
    ),
    dong: t.Text('동, 읍, 면 or 가', 200),
  },
);
export type Region = Static<typeof Region>;

const StoreLocation = t.NamedObject('StoreLocation', 'A place in degrees of WGS 84', {
  latitude: Type.Number({ minimum: -90, maximum: 90, description: 'To the north' }),
  longitude: Type.Number({ minimum: -180, maximum: 180, description: 'To the east' }),
});

/** A phone number of a response, which may be empty. */
export const PhoneNumber = (description: string) =>
  t.Text(description, { pattern: '^[0-9-]*$', maxLength: 30 });

export const Store = t.NamedObject('Store', 'A store; a field that was never given is an empty string', {
  ...summary,
  ...presentation,
  phone_number: PhoneNumber('Digits and hyphens'),
  business_hours: t.Text('When it is open, in free text', 100),
  region: t.Ref(Region),
  location: t.RefOrNull(
    StoreLocation,
    'Where it is, to six decimals; for others than its owner to three, about 100 m, unless `show_exact_location` is `true`. `null` where the owner did not give it.',
  ),
  show_exact_location: t.Flag('Whether others see the location as it is'),
  created_at: t.Timestamp('When it was registered'),
  updated_at: t.Timestamp('When it was last changed'),
});
export type Store = Static<typeof Store>;

const NewStoreLocation = t.Body('NewStoreLocation', 'A place in degrees of WGS 84', StoreLocation.properties);

export const NewStore = t.Body('NewStore', 'A store to register', {
  name: Line('Its name', { ...whenUnnamed, maxLength: 50 }),
  category_ids: Type.Array(t.Id('`id` of a category'), {
    minItems: 1,
    maxItems: 5,
    uniqueItems: true,
    ...whenEmpty('업종을 하나 이상 골라 주세요.', 'Choose at least one category.'),
    description: 'Different `id`s of `listStoreCategories`, the main one first',
  }),
  description: OptionalBlock('What it is like; may contain line feeds', 2000),
  address: OptionalLine('Where it is', 200),
  phone_number: Type.Optional(
    TextField('phone', {
      maxLength: 30,
      description:
        'Empty, or a Korean number with its area or service code, a nationwide one (1588-1234), or 8 to 15 digits that begin with a country code. Taken with spaces, dots, brackets or `+82`; kept as digits and hyphens.',
    }),
  ),
  business_hours: OptionalLine('When it is open, in free text', 100),
  location: Type.Optional(
    t.RefOrNull(
      NewStoreLocation,
      'Where it is, kept to six decimals; `null` for no location. Others see it rounded to three decimals, unless `show_exact_location` is `true`.',
    ),
  ),
  show_exact_location: Type.Optional(
    t.Flag('Whether others see the location as it is; `false` when left out'),
  ),
});
export type NewStore = Static<typeof NewStore>;

export const StoreChanges = t.Changes(
  'StoreChanges',
  'At least one field; fields that are not given stay unchanged',
  NewStore.properties,
);
export type StoreChanges = Static<typeof StoreChanges>;

export const StoreCategoryList = t.NamedObject('StoreCategoryList', 'Every category', {
  items: t.List(t.Ref(StoreCategoryListItem), 1000, 'All of them, in the order to show them'),
});
export const StorePage = Page('StorePage', t.Ref(StoreListItem));

/** A store as the API shows it. */
export function toStore({ created_at, updated_at, ...row }: StoreRow): Store {
  return { ...row, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}

/** A store in the directory. */
export function toStoreListItem(
  { createdAt: _, firstImage, distance, ...store }: ListedStoreRow,
  { thumbnailOf }: ImageUrls,
): StoreListItem {
  const distance_m = distance && Math.round(distance / 1_000);
  return { ...store, thumbnail: thumbnailOf(firstImage, store), distance_m };
}

/** A store in short, with its categories in the order that its owner gave. */
export function toStoreSummary({ id, name, categories }: StoreSummaryRow): StoreSummary {
  return { id, name, store_categories: categories.map(({ category }) => category) };
}
