import type { Tx } from './client.ts';
import { raw, sql } from './sql.ts';

/** All advisory locks of the service: a database has one space of keys. Where there are two keys, the second one is an id. */
export const advisoryLocks = {
  /** That of Prisma's CLI and schema engine, so that they and `migrate` exclude each other. */
  migrations: 72_707_369,
  /**
   * With the hash of an email address or a username, also one that no account has. Codes, links and requested emails of an address
   * are changed, and accounts get a name, only under its lock. All of `auth/` locks in this order: the idempotency key; a login flow
   * without a user; these, in the order of the hashes; counters of failed logins; the account; its store; all else of it; the caps
   * of emails that it did not request.
   */
  names: 1_851_878_757,
  /** With the id of a store: `send_partner_request` looks at its quota. */
  storeQuotas: 1_903_521_652,
  /** `skip_lost_notification_ids` skips ids. */
  timeline: 1_953_066_341,
} as const;

/** As PostgreSQL calls them, strongest first. `NO KEY UPDATE` lets rows that refer to the row be added meanwhile. */
type Strength = 'UPDATE' | 'NO KEY UPDATE' | 'KEY SHARE';

/** Locks a row until the transaction ends, which Prisma's client cannot. @returns whether there is such a row */
export async function lockRow(
  tx: Tx,
  table: 'users' | 'stores' | 'sessions',
  id: number | string,
  strength: Strength,
): Promise<boolean> {
  const locked = await tx.execute(sql`/* locks.${raw(table)} */
    SELECT FROM ${raw(table)} WHERE id = ${id} FOR ${raw(strength)}`);
  return locked > 0;
}
