import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate } from '../../src/database/migrations.ts';
import { startEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { databaseUrl, execute } from './database.ts';

/*
 * `npm test [-- <tap arguments>]`: one PostgreSQL server and one migrated template database for all test files of a
 * run, then tap. The server is DATABASE_URL's when that is set, else a throw-away one.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const resolve = createRequire(import.meta.url).resolve;
const TAP = join(dirname(resolve('tap/package.json')), 'dist/esm/run.mjs');

/** More test files at once would run out of the server's connections before they run out of processors. */
const JOBS = Math.min(8, availableParallelism());
const KILL_AFTER = 5_000;

interface Server {
  url: string;
  stop(): Promise<void>;
}

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interruption.abort(signal));
}

const exitCode = await run(process.argv.slice(2)).catch((error: unknown) => {
  if (!interruption.signal.aborted) process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  return 1;
});
const outcome = interruption.signal.aborted ? `stopped by ${interruption.signal.reason}` : undefined;
process.stdout.write(`\nTests ${outcome ?? (exitCode === 0 ? 'passed' : 'FAILED')}.\n`);
process.exitCode = outcome ? 130 : exitCode;

async function run(args: string[]): Promise<number> {
  await prepareTap();
  const server = await openServer();
  const id = randomBytes(4).toString('hex');
  const template = `dure_test_template_${id}`;
  try {
    await createTemplate(server.url, template);
    // Whatever the developer's database is, no test shall write to it.
    const { DATABASE_URL: _, ...environment } = process.env;
    return await runTap(['run', `--jobs=${JOBS}`, ...withoutCoverage(args), ...args], {
      ...environment,
      DURE_TEST_DATABASE_URL: server.url,
      DURE_TEST_TEMPLATE: template,
    });
  } finally {
    await dropDatabases(server.url, template, `dure_test_${id}_`).catch(() => undefined);
    await server.stop();
  }
}

async function openServer(): Promise<Server> {
  if (process.env.DATABASE_URL) return { url: process.env.DATABASE_URL, stop: async () => undefined };
  const directory = await mkdtemp(join(tmpdir(), 'dure-test-'));
  const removeDirectory = () => rm(directory, { recursive: true, force: true });
  try {
    const { url, stop } = await startEmbeddedServer({ directory });
    // Nothing here has to survive a power cut.
    const settings = ['fsync', 'synchronous_commit', 'full_page_writes'];
    await execute(
      url,
      ...settings.map((name) => `ALTER SYSTEM SET ${name} = off`),
      'SELECT pg_reload_conf()',
    );
    return { url, stop: () => stop().finally(removeDirectory) };
  } catch (error) {
    await removeDirectory();
    throw error;
  }
}

async function createTemplate(serverUrl: string, template: string): Promise<void> {
  await execute(serverUrl, `CREATE DATABASE ${template}`);
  await migrate(databaseUrl(serverUrl, template));
  // PostgreSQL copies a database only while nobody is connected to it.
  await execute(serverUrl, `ALTER DATABASE ${template} WITH ALLOW_CONNECTIONS false`);
}

async function dropDatabases(serverUrl: string, template: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const found = await client.query<{ datname: string }>(
      'SELECT datname FROM pg_database WHERE datname = $1 OR starts_with(datname, $2)',
      [template, prefix],
    );
    for (const { datname } of found.rows)
      await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}

/**
 * tap comes built with its TypeScript plugin, which .taprc leaves out because tsx does that work. `tap run` would
 * rebuild tap by itself, but then still start that first run's files with the plugin, and fail.
 */
async function prepareTap(): Promise<void> {
  const built = await readFile(createRequire(TAP).resolve('@tapjs/test/built'), 'utf8');
  if (!built.includes('@tapjs/typescript')) return;
  if ((await runTap(['build'], process.env)) !== 0) throw new Error('`tap build` failed');
}

/** Coverage slows the tests and is not what they are for; any argument about it turns it on. */
function withoutCoverage(args: string[]): string[] {
  const wanted = args.some((argument) => argument.includes('coverage'));
  return wanted ? ['--allow-incomplete-coverage', '--allow-empty-coverage'] : ['--disable-coverage'];
}

async function runTap(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  interruption.signal.throwIfAborted();
  // In a process group of its own, so that it can be ended together with the test files it runs.
  const tap = spawn(process.execPath, [TAP, ...args], { cwd: ROOT, env, stdio: 'inherit', detached: true });
  const stop = () => {
    signalGroup(tap, 'SIGTERM');
    setTimeout(() => signalGroup(tap, 'SIGKILL'), KILL_AFTER).unref();
  };
  interruption.signal.addEventListener('abort', stop);
  try {
    const [code] = await once(tap, 'close');
    return typeof code === 'number' ? code : 1;
  } finally {
    interruption.signal.removeEventListener('abort', stop);
    signalGroup(tap, 'SIGKILL');
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}
