import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Test } from 'tap';
import { startEmbeddedServer } from '../../src/development/embedded-postgres/server.ts';
import { type Database, openDatabase } from '../../src/infrastructure/database/client.ts';
import { migrate } from '../../src/infrastructure/database/migrations.ts';
import { runFolder } from './files.ts';
import { atMost, timeFactor } from './time.ts';
import { succeeds, until } from './until.ts';

/** How long to wait for a template that another connection is in, in milliseconds. */
const templateTimeout = atMost(30_000);

/** SQL that keeps the worker from starting a task of its schedule: it has run in the future. */
export const stopCron = (task: string) =>
  `INSERT INTO graphile_worker._private_known_crontabs VALUES ('${task}', now(), '9999-01-01')
   ON CONFLICT (identifier) DO UPDATE SET last_execution = excluded.last_execution`;

/** A PostgreSQL server with a migrated template database. */
interface TestServer {
  url: string;
  template: string;
}

/**
 * Creates a migrated database without rows of its own. It goes with the server: ext4 does not use inodes again for minutes after
 * their deletion, so that creating a database after a drop takes 370 ms instead of 25.
 *
 * @returns its connection string
 */
export async function createTestDatabase(): Promise<string> {
  const server = await testServer();
  return createDatabase(server, server.template);
}

/** Creates a database without anything in it, for the tests of the migrations themselves. */
export async function createEmptyDatabase(): Promise<string> {
  return createDatabase(await testServer(), 'template0');
}

/** What repositories work on, with the database of an app, until the test ends. */
export function openTestDatabase(t: Test, url: string, poolSize = 2): Database {
  const database = openDatabase({ url, poolSize, limitFactor: timeFactor });
  t.teardown(database.close);
  return database;
}

let ownServer: Promise<TestServer> | undefined;

/** The server of `npm test`, or one of this process, for a test file that runs by itself. */
async function testServer(): Promise<TestServer> {
  const { DURE_TEST_SERVER: url, DURE_TEST_TEMPLATE: template } = process.env;
  if (url && template) return { url, template };
  ownServer ??= import('tap').then(async ({ default: t }) => {
    const { stop, ...server } = await startTestServer();
    t.teardown(stop);
    return server;
  });
  return ownServer;
}

/** Starts an embedded server, which ends with this process. */
export async function startTestServer(): Promise<TestServer & { stop(): Promise<void> }> {
  const template = `dure_test_${randomBytes(4).toString('hex')}`;
  const { url, stop } = await startEmbeddedServer({ directory: runFolder() });
  // Durability and the maintenance of many small databases cost time and serve no test.
  const settings = ['fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum'];
  await execute(url, ...settings.map((name) => `ALTER SYSTEM SET ${name} = off`), 'SELECT pg_reload_conf()');
  await execute(url, `CREATE DATABASE ${template}`);
  await migrate(databaseUrl(url, template));
  // They would change what a test has prepared.
  await execute(databaseUrl(url, template), ...['clean_up', 'send_saved_search_digests'].map(stopCron));
  // PostgreSQL copies a database only while it has no connection.
  await execute(url, `ALTER DATABASE ${template} WITH ALLOW_CONNECTIONS false`);
  return { url, template, stop };
}

async function createDatabase({ url, template }: TestServer, source: string): Promise<string> {
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  for (const deadline = AbortSignal.timeout(templateTimeout); ; await sleep(50 + Math.random() * 200)) {
    try {
      // Copying files is faster than the default, which writes the copy to the WAL; PostgreSQL 15 or newer.
      await execute(url, `CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY FILE_COPY`);
      break;
    } catch (error) {
      // 55006: another session is connected to the template, such as autovacuum.
      const busy = error instanceof pg.DatabaseError && error.code === '55006';
      if (!busy || deadline.aborted) throw error;
    }
  }
  return databaseUrl(url, name);
}

/** The URL of another database on the same server. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = name;
  return url.href;
}

/** Waits until a server, or a pooler, accepts connections to a database. */
export const untilAccepted = (url: string) =>
  until(`a connection to ${new URL(url).host}`, () => succeeds(execute(url, 'SELECT 1')));

/** Runs statements one after the other, each in a transaction of its own. @returns the values of the last result, row by row */
export async function execute(url: string, ...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    let result: pg.QueryArrayResult | undefined;
    for (const text of statements) result = [await client.query({ text, rowMode: 'array' })].flat().at(-1);
    return result?.rows.flat() ?? [];
  } finally {
    await client.end();
  }
}
