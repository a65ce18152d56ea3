import type { Connection, Database } from '../database/client.ts';
import { ApiError, invalidFields } from '../http/errors.ts';
import type { Transaction } from '../http/idempotency.ts';
import { storeErrors } from './errors.ts';
import type { Stores } from './repository/stores.ts';
import type { NewStore, Store, StoreChanges } from './schemas.ts';

const unknownCategory = { ko: '없는 카테고리입니다.', en: 'There is no such category.' };

export type StoreService = ReturnType<typeof createStoreService>;

/** Registering and changing the store of a user. */
export function createStoreService({ database, stores }: { database: Database; stores: Stores }) {
  /**
   * Registers the one store of a user.
   *
   * @param transaction runs the change; with an idempotency key it gives the first answer again
   * @returns undefined when the account was deleted in the meantime
   * @throws {ApiError} `validation_error` for an unknown category, `store_exists`
   */
  async function register(
    transaction: Transaction,
    userId: number,
    input: NewStore,
  ): Promise<Store | undefined> {
    return transaction(async (tx) => {
      await checkCategories(tx, input.category_ids);
      const id = await stores.create(tx, userId, input);
      if (id !== undefined) return stores.findInside(tx, id);
      if (await stores.exists(tx, userId)) throw new ApiError(storeErrors.storeExists);
      return undefined;
    });
  }

  /**
   * Changes the store of a user.
   *
   * @throws {ApiError} `validation_error` for an unknown category, `store_not_found`
   */
  async function change(userId: number, changes: StoreChanges): Promise<Store> {
    return database.transaction(async (tx) => {
      await checkCategories(tx, changes.category_ids ?? []);
      const id = await stores.change(tx, userId, changes);
      const store = id === undefined ? undefined : await stores.findInside(tx, id);
      if (store === undefined) throw new ApiError(storeErrors.storeNotFound);
      return store;
    });
  }

  async function checkCategories(tx: Connection, ids: number[]): Promise<void> {
    if (ids.length === 0) return;
    const known = await stores.knownCategories(tx, ids);
    const unknown = ids.flatMap((id, index) => (known.has(id) ? [] : [`/category_ids/${index}`]));
    if (unknown.length > 0) {
      throw invalidFields(Object.fromEntries(unknown.map((pointer) => [pointer, [unknownCategory]])));
    }
  }

  /**
   * Tells a list of a category that nobody has from one of a category that does not exist. Asked only when a list is empty.
   *
   * @throws {ApiError} `validation_error` for an unknown category
   */
  async function checkCategoryFilter(id: number | undefined): Promise<void> {
    if (id === undefined) return;
    const known = await stores.knownCategories(database.client, [id]);
    if (!known.has(id)) throw invalidFields({ category_id: [unknownCategory] });
  }

  return { register, change, checkCategoryFilter };
}
