import { dure, type StoreCategory } from '../api.ts';
import { type Loaded, useLoad } from './use-load.ts';

/** The categories that a store can have. */
export function useCategories(): Loaded<{ items: StoreCategory[] }> {
  return useLoad((signal) => dure.stores.listCategories({}, { signal }), []);
}
