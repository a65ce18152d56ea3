import type { Database } from '../../../infrastructure/database/client.ts';
import {
  afterId,
  afterTime,
  type BoundedPage,
  type PageRequest,
} from '../../../infrastructure/database/keyset.ts';
import { raw, type Sql, sql } from '../../../infrastructure/database/sql.ts';
import { isOpenStore, type StoreSummary, storeSummarySql } from '../../stores/index.ts';
import type { Contact } from '../schemas.ts';

/** The newest accepted request with another store. */
export interface PartnerRow {
  id: number;
  /** When it was accepted, by which the list is ordered. */
  createdAt: Date;
  store: StoreSummary;
  contact: Contact;
}

/** Where a page ended that has examined as many requests as it may. */
interface BudgetEnd {
  stoppedTime: Date | null;
  stoppedId: number | null;
}

/** Accepted requests that one page may examine. Stores that have many of them with each other are rare. */
export const partnerBudget = 200;

export type Partners = ReturnType<typeof createPartnerRepository>;

/** Stores with which a store has an accepted request. */
export function createPartnerRepository(database: Database) {
  /**
   * Reads one page of the partners of a user's store, by the time of the newest accepted request, newest first. None without a
   * store. Stores that are closed or suspended are left out.
   *
   * The page examines a bounded number of requests in the order of the list, from one index for those that were sent and one for
   * those that were received. Of each it is looked up whether it is the newest one of the two stores. `updated_at` is when a
   * request was accepted, because an accepted request changes only by ending.
   */
  async function find(
    { userId, after, limit }: PageRequest & { userId: number },
    budget = partnerBudget,
  ): Promise<BoundedPage<PartnerRow>> {
    const own = sql`(SELECT id FROM own)`;
    const [sender, receiver] = [raw('sender_store_id'), raw('receiver_store_id')];
    const accepted = (ownStore: Sql, otherStore: Sql) => sql`
      SELECT id, updated_at, ${otherStore} AS store_id FROM partner_requests
      WHERE ${ownStore} = ${own} AND status = 'accepted' AND (updated_at, id) < (${afterTime(after)}, ${afterId(after)})
      ORDER BY updated_at DESC, id DESC LIMIT ${budget}`;
    const examined = sql`
      SELECT * FROM ((${accepted(sender, receiver)}) UNION ALL (${accepted(receiver, sender)})) accepted
      ORDER BY updated_at DESC, id DESC LIMIT ${budget}`;
    const ofPair = (from: Sql, to: Sql) => sql`
      SELECT id, updated_at FROM partner_requests
      WHERE sender_store_id = ${from} AND receiver_store_id = ${to} AND status = 'accepted'
      ORDER BY updated_at DESC, id DESC LIMIT 1`;
    const other = raw('e.store_id');
    const rows = await database.query<(PartnerRow | { id: null }) & BudgetEnd>(sql`
      WITH own AS MATERIALIZED (
        SELECT s.id FROM stores s WHERE s.owner_id = ${userId} AND ${isOpenStore('s')}
      ), page AS MATERIALIZED (
        SELECT e.id, e.updated_at, e.store_id FROM (${examined}) e
        WHERE (SELECT ${isOpenStore('s')} FROM stores s WHERE s.id = e.store_id)
          AND e.id = (
            SELECT id FROM ((${ofPair(own, other)}) UNION ALL (${ofPair(other, own)})) pair
            ORDER BY updated_at DESC, id DESC LIMIT 1)
        ORDER BY e.updated_at DESC, e.id DESC LIMIT ${limit}
      ), stopped AS (
        SELECT e.updated_at AS "stoppedTime", e.id AS "stoppedId" FROM (${examined}) e
        WHERE (SELECT count(*) FROM page) < ${limit}::int
        ORDER BY e.updated_at DESC, e.id DESC OFFSET ${budget - 1}::int LIMIT 1
      )
      SELECT found.*, stopped.* FROM (SELECT) one_row
      LEFT JOIN stopped ON true
      LEFT JOIN (
        SELECT page.id, page.updated_at AS "createdAt",
          json_build_object('name', u.name, 'email', u.email, 'phone_number', o.phone_number) AS contact,
          (SELECT ${storeSummarySql} FROM stores s WHERE s.id = page.store_id) AS store
        FROM page
        JOIN stores o ON o.id = page.store_id
        JOIN users u ON u.id = o.owner_id
      ) found ON true
      ORDER BY found."createdAt" DESC, found.id DESC`);
    const { stoppedTime, stoppedId } = rows[0] ?? { stoppedTime: null, stoppedId: null };
    return {
      // The end of an empty page is a row without columns of its own.
      rows: rows.flatMap((row) => (row.id === null ? [] : [row])),
      stoppedAt:
        stoppedTime && stoppedId ? { time: stoppedTime.getTime(), id: String(stoppedId) } : undefined,
    };
  }

  return { find };
}
