import type { Database } from '../../infrastructure/database/client.ts';
import { sql } from '../../infrastructure/database/sql.ts';
import type { ReadAddress } from './regions.ts';

/** About 10 ms of CPU, during which no request is served. */
const addressesPerStep = 100;

/**
 * Reads the regions of addresses that an earlier release read by other rules or not at all, a part of the clean-up: their keys have
 * no `sido`. Any number of instances may do it at once.
 *
 * @yields how many addresses a step read
 */
export async function* readRegions(
  database: Pick<Database, 'transaction'>,
  readAddress: ReadAddress,
): AsyncGenerator<number, void> {
  for (let count = addressesPerStep; count === addressesPerStep; yield count) {
    count = await database.transaction(async (tx) => {
      const stores = await tx.query<{ id: number; address: string }>(sql`
        SELECT id, address FROM stores
        WHERE address <> '' AND (sido = ANY (region_keys)) IS NOT TRUE
        ORDER BY id LIMIT ${addressesPerStep} FOR NO KEY UPDATE SKIP LOCKED`);
      const regions = stores.map(({ id, address }) => ({ id, ...readAddress(address) }));
      return tx.execute(sql`
        UPDATE stores s SET sido = r.sido, sigungu = r.sigungu, dong = r.dong, region_keys = r.keys
        FROM json_to_recordset(${JSON.stringify(regions)}::json) r (id int, sido text, sigungu text, dong text, keys text[])
        WHERE s.id = r.id`);
    });
  }
}
