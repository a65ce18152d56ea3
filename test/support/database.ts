import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** A database of one test file. */
interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** How long to wait for a template that another connection is in, in milliseconds. */
const templateTimeout = 30_000;

/**
 * Creates a migrated database without rows of its own: a copy of the template that test/support/run.ts made for this
 * run. What a test does not drop, the end of the run does.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { serverUrl, template } = readRun();
  return createDatabase(serverUrl, template, template.replace('_template', ''));
}

/** Creates a database without anything in it, for the tests of the migrations themselves. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const { serverUrl, template } = readRun();
  return createDatabase(serverUrl, 'template0', template.replace('_template', ''));
}

function readRun() {
  const { DURE_TEST_DATABASE_URL: serverUrl, DURE_TEST_TEMPLATE: template } = process.env;
  if (!serverUrl || !template)
    throw new Error('run tests with `npm test`, one file with `npm test -- <file>`');
  return { serverUrl, template };
}

async function createDatabase(serverUrl: string, template: string, prefix: string): Promise<TestDatabase> {
  const name = `${prefix}_${randomBytes(6).toString('hex')}`;
  await copyTemplate(serverUrl, template, name);
  return {
    url: databaseUrl(serverUrl, name),
    drop: () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function copyTemplate(serverUrl: string, template: string, name: string): Promise<void> {
  for (const deadline = Date.now() + templateTimeout; ; ) {
    try {
      // Copying files costs a third of the default, which writes the copy to the WAL; PostgreSQL 15 or newer.
      return await execute(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    } catch (error) {
      // 55006: another session is connected to the template, such as autovacuum.
      const busy = error instanceof pg.DatabaseError && error.code === '55006';
      if (!busy || Date.now() > deadline) throw error;
      await sleep(50 + Math.random() * 200);
    }
  }
}

/** The URL of another database on the same server. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = name;
  return url.href;
}

/** Runs statements one after the other, each in a transaction of its own. */
export async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
