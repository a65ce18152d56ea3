import type { Database } from '../../infrastructure/database/client.ts';
import { sql } from '../../infrastructure/database/sql.ts';
import { readRegion, regionKeys } from './regions.ts';

/** About 10 ms of CPU, during which no request is served. */
const addressesPerStep = 100;

/**
 * Reads the regions of addresses that a release without regions wrote, a part of the clean-up. Any number of instances may do it
 * at once.
 *
 * @yields how many addresses a step read
 */
export async function* readRegions(database: Pick<Database, 'transaction'>): AsyncGenerator<number, void> {
  for (let count = addressesPerStep; count === addressesPerStep; yield count) {
    count = await database.transaction(async (tx) => {
      const stores = await tx.query<{ id: number; address: string }>(sql`
        SELECT id, address FROM stores WHERE sido IS NULL AND address <> ''
        ORDER BY id LIMIT ${addressesPerStep} FOR NO KEY UPDATE SKIP LOCKED`);
      const regions = stores.map(({ id, address }) => {
        const region = readRegion(address);
        return { id, ...region, keys: regionKeys(region) };
      });
      return tx.execute(sql`
        UPDATE stores s SET sido = r.sido, sigungu = r.sigungu, dong = r.dong, region_keys = r.keys
        FROM json_to_recordset(${JSON.stringify(regions)}::json) r (id int, sido text, sigungu text, dong text, keys text[])
        WHERE s.id = r.id`);
    });
  }
}
