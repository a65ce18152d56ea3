import type { Prisma } from '../../infrastructure/database/generated/client.ts';
import type { StoreSummary } from './schemas.ts';

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
