import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import { createEmptyDatabase } from '../support/database.ts';

/** The names of prisma/migrations. */
export const committed = (await readdir(new URL(import.meta.resolve('#package/prisma/migrations'))))
  .filter((name) => name !== 'migration_lock.toml')
  .sort();

/** A database of its own, with a connection to it. */
export async function connect(t: Test, create = createEmptyDatabase) {
  const url = await create();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  const values = async (text: string) =>
    (await client.query<{ value: unknown }>(text)).rows.map(({ value }) => value);
  return { url, client, values };
}

/** Writes a folder in place of prisma/migrations. */
export async function writeMigrations(t: Test, scripts: Record<string, string>) {
  const folder = t.testdir();
  const write = async (name: string, sql: string) => {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, 'migration.sql'), sql);
  };
  for (const [name, sql] of Object.entries(scripts)) await write(name, sql);
  return { folder, write };
}
