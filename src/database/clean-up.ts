import type { Database } from './client.ts';

/** What of a table may go. Each condition has an index on its time. */
const expired = {
  sessions: 'expires_at < now()',
  email_codes: 'expires_at < now()',
  email_proofs: 'expires_at < now()',
  password_resets: 'expires_at < now()',
  // The cap on mails looks back an hour.
  mail_sends: `updated_at < now() - interval '1 hour'`,
  login_failures: `updated_at < now() - interval '1 hour' AND (locked_until IS NULL OR locked_until < now())`,
  known_addresses: `last_used_at < now() - interval '30 days'`,
  idempotency_keys: `created_at < now() - interval '24 hours'`,
  failed_mails: `created_at < now() - interval '90 days'`,
};

const batchSize = 1_000;
/** The next run goes on where this one stops. */
const mostBatches = 100;

/**
 * Deletes what has expired, in small batches so that no lock is held long. Rows that a transaction holds are left for
 * the next run.
 *
 * @returns rows deleted per table
 */
export async function cleanUp(database: Pick<Database, 'pool'>): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {};
  for (const [table, condition] of Object.entries(expired)) {
    deleted[table] = await deleteInBatches(database, table, condition);
  }
  return deleted;
}

async function deleteInBatches(
  { pool }: Pick<Database, 'pool'>,
  table: string,
  condition: string,
): Promise<number> {
  const statement = `
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${batchSize} FOR UPDATE SKIP LOCKED
    ))`;
  let total = 0;
  for (let batch = 0; batch < mostBatches; batch++) {
    const count = (await pool.query(statement)).rowCount ?? 0;
    total += count;
    if (count < batchSize) break;
  }
  return total;
}
