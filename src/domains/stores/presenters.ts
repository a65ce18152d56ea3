import type { Prisma } from '../../infrastructure/database/generated/client.ts';
import type { ImageUrls } from '../images/index.ts';
import type { ListedStoreRow, StoreRow } from './repository.ts';
import type { Store, StoreListItem, StoreSummary } from './schemas.ts';

/** A store as the API shows it. */
export function toStore(row: StoreRow): Store {
  return { ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() };
}

/** A store in the directory. */
export function toStoreListItem(row: ListedStoreRow, imageUrls: ImageUrls): StoreListItem {
  const { image, created_at: _, ...store } = row;
  return { ...store, thumbnail: imageUrls.thumbnailOf(image, store) };
}

/** What Prisma's client reads of a store for {@link toStoreSummary}. */
export const storeSummarySelect = {
  id: true,
  name: true,
  categories: { select: { category: { select: { id: true, name: true } } }, orderBy: { position: 'asc' } },
} as const satisfies Prisma.StoreSelect;

export type StoreSummaryRow = Prisma.StoreGetPayload<{ select: typeof storeSummarySelect }>;

/** A store in short, with its categories in the order that its owner gave. */
export function toStoreSummary({ id, name, categories }: StoreSummaryRow): StoreSummary {
  return { id, name, store_categories: categories.map(({ category }) => category) };
}
