import pg from 'pg';
import { int8AsNumber } from '../../src/infrastructure/database/client.ts';
import { bulkLoad } from './bulk-load.ts';
import { addPosts } from './posts.ts';
import { executeLong, type SeedRun } from './progress.ts';
import { addRequestsWithNotifications } from './requests.ts';
import { addSavedSearches, addUsersWithStores, seededStores } from './stores.ts';

/** How many rows to add. */
export interface SeedCounts {
  /** At least 2. */
  users: number;
  posts: number;
  notifications: number;
}

const vacuumProgress = `
  SELECT format('%s, %s', relid::regclass, phase) AS progress
  FROM pg_stat_progress_vacuum WHERE datname = current_database()`;

/**
 * Adds users with stores and saved searches, posts, requests and notifications to a migrated database. One user, `seed_1`, gets a tenth of everything.
 *
 * @param print receives how far it is, every few seconds
 */
export async function seedDatabase(
  url: string,
  { users, posts, notifications }: SeedCounts,
  print: (line: string) => void,
): Promise<void> {
  const client = new pg.Client({ connectionString: url, types: int8AsNumber });
  const observer = new pg.Client({ connectionString: url });
  await Promise.all([client.connect(), observer.connect()]);
  const run: SeedRun = { client, observer, print };
  try {
    await client.query('ANALYZE');
    await bulkLoad(run, { tables: ['users', 'stores', 'store_category_links'], rows: users }, () =>
      addUsersWithStores(run, users),
    );
    await client.query('ANALYZE');
    await addSavedSearches(run);
    const stores = await seededStores(client);
    const added = await bulkLoad(run, { tables: ['posts'], rows: posts }, () => addPosts(run, stores, posts));
    await client.query('ANALYZE posts');
    const tables = ['partner_requests', 'notifications'];
    await bulkLoad(run, { tables, rows: notifications }, () =>
      addRequestsWithNotifications(run, { stores, posts: added, total: notifications }),
    );
    await executeLong(run, {
      label: 'vacuum and statistics',
      statement: 'VACUUM ANALYZE',
      progress: vacuumProgress,
    });
  } finally {
    await Promise.all([client.end(), observer.end()]);
  }
}
