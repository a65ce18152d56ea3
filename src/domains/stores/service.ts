import { tokenNotValid } from '../../http/authentication.ts';
import type { Precondition } from '../../http/conditions.ts';
import { ApiError, found, httpErrors, invalidFields, retryLater } from '../../http/errors.ts';
import type { Problem } from '../../http/field-errors.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database, Reader, Tx } from '../../infrastructure/database/client.ts';
import { secondsUntilNext } from '../../infrastructure/database/daily-quota.ts';
import type { Created, Idempotency, IdempotencyKey } from '../../infrastructure/database/idempotency.ts';
import * as stores from './repository.ts';
import { type NewStore, type Store, type StoreChanges, storeErrors, toStore } from './schemas.ts';

const unknownCategory: Problem = {
  code: 'not_found',
  text: { ko: '없는 카테고리입니다.', en: 'There is no such category.' },
};

export interface StoreServiceOptions {
  config: Pick<Config, 'quotas'>;
  database: Database;
  idempotency: Idempotency;
}

/** Registering and changing the store of a user. */
export function createStoreService({ config, database, idempotency }: StoreServiceOptions) {
  async function register(userId: number, input: NewStore, key?: IdempotencyKey): Promise<Created<Store>> {
    return idempotency.run(key, async (tx) => {
      await checkCategories(tx, input.category_ids);
      const id = await stores.create(tx, userId, input);
      if (id !== undefined) return find({ userId, id }, tx);
      if (await stores.exists(tx, userId)) throw new ApiError(storeErrors.storeExists);
      throw tokenNotValid('access', 'revoked');
    });
  }

  async function change(userId: number, changes: StoreChanges, precondition?: Precondition): Promise<Store> {
    return database.transaction(async (tx) => {
      await checkCategories(tx, changes.category_ids ?? []);
      const version = precondition && (await find({ userId }, tx, precondition)).updated_at;
      const edit = { ownerId: userId, version, quota: config.quotas.editsPerDay };
      const id = await stores.change(tx, changes, edit);
      if (id !== undefined) return find({ userId, id }, tx);
      await find({ userId }, tx, precondition);
      const store = stores.openStoreOf(userId);
      throw retryLater(httpErrors.quotaExceeded, await secondsUntilNext(tx, 'edit', store));
    });
  }

  async function find(wanted: stores.WantedStore, tx: Reader = database, precondition?: Precondition) {
    const store = toStore(found(await stores.findOpen(tx, wanted), storeErrors.storeNotFound));
    precondition?.(store);
    return store;
  }

  return { register, change, find };
}

async function checkCategories(tx: Tx, ids: number[], fieldOf = (i: number) => `/category_ids/${i}`) {
  if (ids.length === 0) return;
  const known = await stores.knownCategories(tx, ids);
  const errors = ids.map((id, index) =>
    known.has(id) ? [] : [{ field: fieldOf(index), ...unknownCategory }],
  );
  if (errors.flat().length > 0) throw invalidFields(errors.flat());
}

/** Checks the category of a list, when that is empty. @throws {ApiError} `validation_error` for an unknown one */
export async function checkCategoryFilter(database: Tx, id: number | undefined): Promise<void> {
  await checkCategories(database, id === undefined ? [] : [id], () => 'category_id');
}
