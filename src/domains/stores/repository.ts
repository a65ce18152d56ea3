import type { Reader, Tx } from '../../infrastructure/database/client.ts';
import { countDaily } from '../../infrastructure/database/daily-quota.ts';
import type { Prisma } from '../../infrastructure/database/generated/client.ts';
import { newestFirst } from '../../infrastructure/database/keyset.ts';
import { lockRow } from '../../infrastructure/database/locks.ts';
import { raw, type Sql, sql } from '../../infrastructure/database/sql.ts';
import { findPage } from '../../infrastructure/search/page.ts';
import { type SearchableList, type SearchFilter, scanBudgets } from '../../infrastructure/search/sources.ts';
import { readAddress } from './regions.ts';
import type { NewStore, Store, StoreChanges, StoreListItem } from './schemas.ts';

/** True where a store, by its alias, exists for readers: its account was not deleted, and its owner is not suspended. */
export function isOpenStore(alias: 's' | 'v' | 'item'): Sql {
  return raw(`${alias}.closed_at IS NULL AND ${alias}.suspended_at IS NULL`);
}

/** The same for Prisma's client. */
export const openStore = { closedAt: null, suspendedAt: null };

/** A query for the id of a user's store, where that exists for readers. */
export const openStoreOf = (ownerId: number) =>
  sql`SELECT s.id FROM stores s WHERE s.owner_id = ${ownerId} AND ${isOpenStore('s')}`;

/** The categories of the store `s` as JSON, in the order its owner gave. */
export const storeCategoriesSql = sql`
  coalesce((
    SELECT json_agg(json_build_object('id', c.id, 'name', c.name) ORDER BY l.position)
    FROM store_category_links l JOIN store_categories c ON c.id = l.category_id
    WHERE l.store_id = s.id), '[]')`;

/** The store `s` as a StoreSummary in JSON, for the queries of every domain. */
export const storeSummarySql = sql`
  json_build_object('id', s.id, 'name', s.name, 'store_categories', ${storeCategoriesSql})`;

/** What Prisma's client reads of a store for `toStoreSummary`. */
export const storeSummarySelect = {
  id: true,
  name: true,
  categories: { select: { category: { select: { id: true, name: true } } }, orderBy: { position: 'asc' } },
} as const satisfies Prisma.StoreSelect;

export type StoreSummaryRow = Prisma.StoreGetPayload<{ select: typeof storeSummarySelect }>;

/** A store with the names of the API. */
export type StoreRow = Omit<Store, 'created_at' | 'updated_at'> & Record<'created_at' | 'updated_at', Date>;

/** A store as a user sees it: the one with an id, or the user's own. */
export type WantedStore = { userId: number; id?: number };

/** The columns that requests write, as `jsonb_populate_record` reads them from JSON. */
const columns = raw(
  'name, description, address, sido, sigungu, dong, region_keys, phone_number, business_hours, latitude, longitude, show_exact_location',
);

/** Texts of a store that its owner need not give. */
const noTexts = { description: '', address: '', phone_number: '', business_hours: '' };

interface StoreEdit {
  ownerId: number;
  /** Its `updated_at`, where only that version is to be changed. */
  version: string | undefined;
  /** Edits of a store in 24 hours; 0: no quota. */
  quota: number;
}

/** A store that exists for readers. Its owner sees the exact location. */
export async function findOpen(tx: Reader, { userId, id }: WantedStore): Promise<StoreRow | undefined> {
  const isAskedFor = id === undefined ? sql`s.owner_id = ${userId}` : sql`s.id = ${id}`;
  const [row] = await tx.query<StoreRow>(sql`/* stores.findOpen */
    SELECT s.id, s.name, ${storeCategoriesSql} AS store_categories, s.description, s.address, s.phone_number, s.business_hours,
      json_build_object('sido', coalesce(s.sido, ''), 'sigungu', s.sigungu, 'dong', s.dong) AS region,
      CASE WHEN place IS NOT NULL THEN json_build_object('latitude', place[1], 'longitude', place[0]) END AS location,
      s.show_exact_location, s.created_at, s.updated_at
    FROM stores s, store_place(s.latitude, s.longitude, s.show_exact_location OR s.owner_id = ${userId}) place
    WHERE ${isAskedFor} AND ${isOpenStore('s')}`);
  return row;
}

/** In the order to show them. */
export const categories = ({ prisma }: Tx) =>
  prisma.storeCategory.findMany({ orderBy: [{ listOrder: 'asc' }, { id: 'asc' }] });

export async function knownCategories(tx: Tx, ids: number[]): Promise<Set<number>> {
  const where = { id: { in: ids } };
  const rows = await tx.prisma.storeCategory.findMany({ where, select: { id: true } });
  return new Set(rows.map(({ id }) => id));
}

/** JSON of the columns that the given fields set. Of an address the region is kept, too; of a location six decimals. */
function columnsOf({ category_ids: _, location, ...fields }: StoreChanges): Sql {
  const degrees = location && [location.latitude, location.longitude].map((one) => Number(one.toFixed(6)));
  const [latitude = null, longitude = null] = degrees ?? [];
  const given = {
    ...fields,
    ...(fields.address !== undefined && readAddress(fields.address)),
    ...(location !== undefined && { latitude, longitude }),
  };
  return sql`${JSON.stringify(given)}::jsonb`;
}

/** Creates the store of a user, of concurrent calls once. @returns its id, unless the user has one, is gone or is suspended */
export async function create(tx: Tx, ownerId: number, store: NewStore): Promise<number | undefined> {
  const given = columnsOf({ ...noTexts, show_exact_location: false, ...store });
  // From the user's row, to wait for a deletion or suspension of the account. A second store is left out before it takes an id.
  const [created] = await tx.query<{ id: number }>(sql`/* stores.create */
    INSERT INTO stores (owner_id, ${columns})
    SELECT owner.id, given.* FROM (SELECT ${columns} FROM jsonb_populate_record(NULL::stores, ${given})) given, (
      SELECT id FROM users u WHERE id = ${ownerId} AND suspended_at IS NULL
        AND NOT EXISTS (SELECT FROM stores WHERE owner_id = u.id) FOR SHARE) owner
    ON CONFLICT (owner_id) DO NOTHING
    RETURNING id`);
  if (created) await addCategories(tx, created.id, store.category_ids);
  return created?.id;
}

export const exists = async (tx: Tx, ownerId: number) =>
  (await tx.prisma.store.count({ where: { ownerId } })) > 0;

/**
 * Changes the given fields, the row first: its lock serialises changes of the categories.
 *
 * @returns undefined without a store, or when the quota is used up
 */
export async function change(tx: Tx, changes: StoreChanges, { ownerId, version, quota }: StoreEdit) {
  const [changed] = await tx.query<{ id: number }>(sql`/* stores.change */
    WITH edited AS (${countDaily('edit', openStoreOf(ownerId), quota)})
    UPDATE stores s SET
      (${columns}) = (SELECT ${columns} FROM jsonb_populate_record(s, ${columnsOf(changes)})),
      updated_at = clock_timestamp()
    FROM edited WHERE s.id = edited.id AND s.owner_id = ${ownerId} AND ${isOpenStore('s')}
      AND s.updated_at = coalesce(${version ?? null}::timestamptz, s.updated_at)
    RETURNING s.id`);
  if (changed && changes.category_ids) {
    await tx.prisma.storeCategoryLink.deleteMany({ where: { storeId: changed.id } });
    await addCategories(tx, changed.id, changes.category_ids);
  }
  return changed?.id;
}

async function addCategories(tx: Tx, storeId: number, ids: number[]): Promise<void> {
  await tx.prisma.storeCategoryLink.createMany({
    data: ids.map((categoryId, index) => ({ storeId, categoryId, position: index + 1 })),
  });
}

/** Locks a user, who can get no store then, and the user's store, for which new posts and requests wait. */
export async function lockStore(tx: Tx, userId: number): Promise<number | undefined> {
  // Before the store, as a suspension does; waits for a registration. Requests, which lock stores first, can still refer to the user.
  await lockRow(tx, 'users', userId, 'NO KEY UPDATE');
  const store = await tx.prisma.store.findFirst({ where: { ownerId: userId }, select: { id: true } });
  if (store) await lockRow(tx, 'stores', store.id, 'UPDATE');
  return store?.id;
}

/** Closes a store: its name stays for the other side of its requests, its contact details and its place do not. */
export async function closeStore(tx: Tx, id: number): Promise<void> {
  const now = new Date();
  const erased = { description: '', address: '', phoneNumber: '', businessHours: '' };
  const place = { sido: '', sigungu: '', dong: '', regionKeys: [], latitude: null, longitude: null };
  await tx.prisma.store.update({
    where: { id },
    data: { closedAt: now, hiddenAt: null, updatedAt: now, ...erased, ...place },
    select: { id: true },
  });
}

export interface ListedStoreRow extends Omit<StoreListItem, 'thumbnail' | 'distance_m'> {
  /** The first image of the newest post, as it is stored; null where there is none. */
  firstImage: string | null;
  /** In millimetres from the place of the filter; null without one. */
  distance: number | null;
  createdAt: Date;
}

/** Read from the index of the posts of each store in order. */
const newestImageSql = sql`(
  SELECT p.images[1] FROM posts p WHERE p.store_id = s.id AND p.is_visible ${newestFirst} LIMIT 1)`;

const openStores: SearchableList = {
  table: 'stores',
  storeId: sql`item.id`,
  exists: isOpenStore('item'),
  storeExists: isOpenStore('s'),
  withStores: (rows) => rows,
  matches: ({ contains, isInRegion, hasCategory }) => sql`
    ${hasCategory(sql`item.id`)} AND ${isInRegion(sql`item.region_keys`)} AND ${contains(sql`item.search_text`)}`,
  textBytes: sql`octet_length(item.search_text)`,
  select: sql`
    SELECT s.id, s.name, ${storeCategoriesSql} AS store_categories, s.address, s.description,
      ${newestImageSql} AS "firstImage", s.created_at AS "createdAt", page.distance
    FROM page JOIN stores s USING (id)`,
};

/** Stores of the directory: open ones, newest first; around a place, nearest first. */
export async function listStores(tx: Reader, filter: SearchFilter, budgets = scanBudgets) {
  return await findPage<ListedStoreRow>(tx, openStores, filter, budgets);
}
