import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { type SeedCounts, seedDatabase } from '../../scripts/seed/database.ts';
import { seedPassword } from '../../scripts/seed/stores.ts';
import { startEmbeddedServer } from '../../src/development/embedded-postgres/server.ts';
import { migrate } from '../../src/infrastructure/database/migrations.ts';
import { production, startService } from '../../test/support/service.ts';

/** Pages that are read to reach a position deep in a list. */
const deepPages = 50;
const ordinaryUsers = 20;

/** A user who reads, with what the paths of the reads need. */
export interface Viewer {
  token: string;
  storeId: number;
  /** The cursor of a page deep in the user's notifications. */
  deepNotifications: string;
}

/** What the paths of reads of everything need. */
export interface Shared {
  /** Ids by name. */
  categories: Map<string, number>;
  /** The number in the title of a post in the middle. */
  postNumber: number;
  deepPosts: string;
  deepStores: string;
}

/** One size: its database and its service. */
export type Side = Awaited<ReturnType<typeof openSide>>;

/** Starts PostgreSQL and the service, after seeding the database where that was not done before. */
export async function openSide(directory: string, counts: SeedCounts) {
  const postgres = await startEmbeddedServer({ directory });
  await prepare(postgres.url, join(directory, 'seeded.json'), counts);
  const service = await startService({
    ...production,
    DATABASE_URL: postgres.url,
    ACCESS_TOKEN_TTL: '12h',
    RATE_LIMIT_ENABLED: 'false',
    WORKER_ENABLED: 'false',
  });
  const observer = new pg.Client({ connectionString: postgres.url });
  await observer.connect();

  async function close(): Promise<void> {
    await observer.end();
    await service.end();
    await postgres.stop();
  }

  /** Reads a list page by page. @returns the cursor of the last page that was read */
  async function deepCursor(token: string, path: string): Promise<string> {
    let cursor = '';
    for (let page = 0; page < deepPages; page++) {
      const { data } = await get(service.url, `${path}${cursor && `?cursor=${cursor}`}`, token);
      if (data.next_cursor === null) break;
      cursor = data.next_cursor;
    }
    return cursor;
  }

  async function viewer(username: string): Promise<Viewer> {
    const token = await logIn(service.url, username);
    const { data } = await get(service.url, '/api/v1/stores/me/', token);
    const deepNotifications = await deepCursor(token, '/api/v1/notifications/mypage/');
    return { token, storeId: data.id, deepNotifications };
  }

  const owner = await viewer('seed_1');
  const ordinary: Viewer[] = [];
  for (let index = 0; index < ordinaryUsers; index++) {
    const place = Math.floor((counts.users * (index + 0.5)) / ordinaryUsers);
    ordinary.push(await viewer(`seed_${Math.max(2, place)}`));
  }
  const { data: categories } = await get(service.url, '/api/v1/stores/categories/', owner.token);
  const shared: Shared = {
    categories: new Map(categories.items.map(({ id, name }: { id: number; name: string }) => [name, id])),
    postNumber: await middlePost(observer),
    deepPosts: await deepCursor(owner.token, '/api/v1/posts/'),
    deepStores: await deepCursor(owner.token, '/api/v1/stores/'),
  };
  return { url: service.url, observer, owner, ordinary, shared, close };
}

async function prepare(url: string, marker: string, counts: SeedCounts): Promise<void> {
  const wanted = JSON.stringify(counts);
  const isSeeded = existsSync(marker);
  if (isSeeded && (await readFile(marker, 'utf8')).trim() !== wanted)
    throw new Error(`${marker} is of another size: choose another directory`);
  const applied = await migrate(url);
  if (!isSeeded) {
    const print = (line: string) => process.stdout.write(`${line}\n`);
    print(`seeding ${wanted}`);
    await seedDatabase(url, counts, print);
    await writeFile(marker, `${wanted}\n`);
  } else if (applied.length > 0) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('VACUUM ANALYZE');
    await client.end();
  }
}

async function logIn(url: string, username: string): Promise<string> {
  const response = await fetch(`${url}/auth/login/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: seedPassword }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${username} cannot log in: ${text}`);
  return JSON.parse(text).data.access;
}

async function middlePost(observer: pg.Client): Promise<number> {
  const { rows } = await observer.query<{ n: number }>(`
    SELECT substring(title FROM '#(\\d+)$')::int AS n FROM posts
    WHERE id >= (SELECT (min(id) + max(id)) / 2 FROM posts) ORDER BY id LIMIT 1`);
  return rows[0]?.n ?? 0;
}

/** One request, read to the end. @throws when it does not succeed */
export async function get(url: string, path: string, token: string) {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  if (!response.ok) throw new RejectedError(response.status, path);
  return JSON.parse(text);
}

/** A response that is no success. */
export class RejectedError extends Error {
  readonly status: number;
  constructor(status: number, path: string) {
    super(`${path} was answered with ${status}`);
    this.status = status;
  }
}
