import { dure, type StoreCategory } from '../api.ts';
import { useLoad } from './use-load.ts';

/** The categories of stores; none until they are loaded. */
export function useCategories(): StoreCategory[] {
  return useLoad((signal) => dure.listStoreCategories({ signal }), []).value?.items ?? [];
}
