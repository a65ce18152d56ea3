import type { StoreRow } from './repository/stores.ts';
import type { Store } from './schemas.ts';

/** A store as the API shows it. */
export function toStore(row: StoreRow): Store {
  return { ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() };
}
