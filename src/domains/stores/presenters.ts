import type { ImageUrls } from '../images/index.ts';
import type { ListedStoreRow } from './repository/store-lists.ts';
import type { StoreRow } from './repository/stores.ts';
import type { Store, StoreListItem } from './schemas.ts';

/** A store as the API shows it. */
export function toStore(row: StoreRow): Store {
  return { ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() };
}

/** A store in the directory. */
export function toStoreListItem(row: ListedStoreRow, imageUrls: ImageUrls): StoreListItem {
  const { image, created_at: _, ...store } = row;
  return { ...store, thumbnail: imageUrls.thumbnailOf(image, store) };
}
