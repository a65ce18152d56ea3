import type { ImageUrls } from '../images/index.ts';
import type { ListedStoreRow, StoreRow, StoreSummaryRow } from './repository.ts';
import type { Store, StoreListItem, StoreSummary } from './schemas.ts';

/** A store as the API shows it. */
export function toStore(row: StoreRow): Store {
  const { sido, sigungu, dong, latitude, longitude } = row;
  return {
    id: row.id,
    name: row.name,
    store_categories: row.categories,
    description: row.description,
    address: row.address,
    phone_number: row.phoneNumber,
    business_hours: row.businessHours,
    region: { sido, sigungu, dong },
    location: latitude === null || longitude === null ? null : { latitude, longitude },
    show_exact_location: row.showExactLocation,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** A store in the directory. */
export function toStoreListItem(row: ListedStoreRow, imageUrls: ImageUrls): StoreListItem {
  const { id, name, categories, description, address, firstImage, distance } = row;
  const store = { id, name, store_categories: categories, description, address };
  return {
    ...store,
    thumbnail: imageUrls.thumbnailOf(firstImage, store),
    distance_m: distance && Math.round(distance / 1_000),
  };
}

/** A store in short, with its categories in the order that its owner gave. */
export function toStoreSummary({ id, name, categories }: StoreSummaryRow): StoreSummary {
  return { id, name, store_categories: categories.map(({ category }) => category) };
}
