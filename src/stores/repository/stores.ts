import type { Connection, Database } from '../../database/client.ts';
import { Prisma } from '../../database/generated/client.ts';
import type { NewStore, Store, StoreCategory, StoreChanges } from '../schemas.ts';
import { storeCategoriesSql } from '../summary-sql.ts';

interface StoreRow extends Omit<Store, 'created_at' | 'updated_at'> {
  created_at: Date;
  updated_at: Date;
}

const columns = `
  s.id, s.name, ${storeCategoriesSql} AS store_categories,
  s.description, s.address, s.phone_number, s.business_hours, s.created_at, s.updated_at`;

const findOwnStore = `SELECT ${columns} FROM stores s WHERE s.owner_id = $1 AND s.closed_at IS NULL`;
const findStore = `SELECT ${columns} FROM stores s WHERE s.id = $1 AND s.closed_at IS NULL`;
const listCategories = 'SELECT id, name FROM store_categories ORDER BY id';

function toStore(row: StoreRow): Store {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export type Stores = ReturnType<typeof createStoreRepository>;

/** Stores one by one, and their categories. A closed store is as if it were not there. */
export function createStoreRepository(database: Database) {
  async function findByOwner(userId: number): Promise<Store | undefined> {
    const { rows } = await database.query<StoreRow>('find_own_store', findOwnStore, [userId]);
    return rows[0] && toStore(rows[0]);
  }

  async function findById(id: number): Promise<Store | undefined> {
    const { rows } = await database.query<StoreRow>('find_store', findStore, [id]);
    return rows[0] && toStore(rows[0]);
  }

  /** A store as the transaction sees it. */
  async function findInside(transaction: Connection, id: number): Promise<Store | undefined> {
    const [row] = await transaction.$queryRaw<StoreRow[]>`
      SELECT ${Prisma.raw(columns)} FROM stores s WHERE s.id = ${id}`;
    return row && toStore(row);
  }

  async function categories(): Promise<StoreCategory[]> {
    return (await database.query<StoreCategory>('list_store_categories', listCategories, [])).rows;
  }

  /** Which of some ids are categories. */
  async function knownCategories(connection: Connection, ids: readonly number[]): Promise<Set<number>> {
    const rows = await connection.$queryRaw<{ id: number }[]>`
      SELECT id FROM store_categories WHERE id = ANY (${ids}::int[])`;
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Two at once for one owner: one is created.
   *
   * @returns the new store's id, or undefined when the owner has a store or there is no such user
   */
  async function create(
    transaction: Connection,
    ownerId: number,
    { name, category_ids, description, address, phone_number, business_hours }: NewStore,
  ): Promise<number | undefined> {
    // From the user's row: an account that is deleted at this moment is waited for, and then has no row.
    const [created] = await transaction.$queryRaw<{ id: number }[]>`
      INSERT INTO stores (owner_id, name, description, address, phone_number, business_hours)
      (SELECT u.id, ${name}, ${description ?? ''}, ${address ?? ''}, ${phone_number ?? ''}, ${business_hours ?? ''}
       FROM users u WHERE u.id = ${ownerId} FOR KEY SHARE)
      ON CONFLICT (owner_id) DO NOTHING
      RETURNING id`;
    if (created) await addCategories(transaction, created.id, category_ids);
    return created?.id;
  }

  async function exists(connection: Connection, ownerId: number): Promise<boolean> {
    return (await connection.store.count({ where: { ownerId } })) > 0;
  }

  /**
   * Changes what is given. The update comes first and locks the store, so that parallel changes of its categories wait for each other.
   *
   * @returns the store's id, or undefined when the user has no store
   */
  async function change(
    transaction: Connection,
    ownerId: number,
    { category_ids, ...changes }: StoreChanges,
  ): Promise<number | undefined> {
    const { name, description, address, phone_number, business_hours } = changes;
    const [changed] = await transaction.$queryRaw<{ id: number }[]>`
      UPDATE stores SET
        name = coalesce(${name ?? null}, name),
        description = coalesce(${description ?? null}, description),
        address = coalesce(${address ?? null}, address),
        phone_number = coalesce(${phone_number ?? null}, phone_number),
        business_hours = coalesce(${business_hours ?? null}, business_hours),
        updated_at = clock_timestamp()
      WHERE owner_id = ${ownerId} AND closed_at IS NULL
      RETURNING id`;
    if (changed && category_ids) {
      await transaction.storeCategoryLink.deleteMany({ where: { storeId: changed.id } });
      await addCategories(transaction, changed.id, category_ids);
    }
    return changed?.id;
  }

  async function addCategories(transaction: Connection, storeId: number, ids: number[]): Promise<void> {
    await transaction.storeCategoryLink.createMany({
      data: ids.map((categoryId, index) => ({ storeId, categoryId, position: index + 1 })),
    });
  }

  return { findByOwner, findById, findInside, categories, knownCategories, create, exists, change };
}
