import pg from 'pg';
import { bulkLoad } from './bulk-load.ts';
import { addPosts } from './posts.ts';
import { timed } from './progress.ts';
import { addRequestsWithNotifications } from './requests.ts';
import { addUsersWithStores, seededStores } from './stores.ts';

/** How many rows to add. */
export interface SeedCounts {
  /** At least 2. */
  users: number;
  posts: number;
  notifications: number;
}

/**
 * Adds users with stores, posts, requests and notifications to a migrated database, and prints how far it is. One user, `seed_1`,
 * gets a tenth of everything.
 */
export async function seedDatabase(url: string, { users, posts, notifications }: SeedCounts): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  const observer = new pg.Client({ connectionString: url });
  await Promise.all([client.connect(), observer.connect()]);
  const connections = { client, observer };
  try {
    await client.query('ANALYZE');
    await bulkLoad(connections, ['users', 'stores', 'store_category_links'], users, () =>
      addUsersWithStores(client, users),
    );
    await client.query('ANALYZE');
    const stores = await seededStores(client);
    const added = await bulkLoad(connections, ['posts'], posts, () => addPosts(client, stores, posts));
    await client.query('ANALYZE posts');
    await bulkLoad(connections, ['partner_requests', 'notifications'], notifications, () =>
      addRequestsWithNotifications(client, stores, added, notifications),
    );
    await timed(
      'vacuum and statistics',
      () => client.query('VACUUM ANALYZE'),
      () => vacuumProgress(observer),
    );
  } finally {
    await Promise.all([client.end(), observer.end()]);
  }
}

async function vacuumProgress(observer: pg.Client): Promise<string> {
  const { rows } = await observer.query<{ progress: string }>(`
    SELECT format('%s, %s', relid::regclass, phase) AS progress
    FROM pg_stat_progress_vacuum WHERE datname = current_database()`);
  return rows[0]?.progress ?? 'statistics';
}
