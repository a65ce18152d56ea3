import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedServer } from '../../src/development/embedded-postgres/server.ts';
import { migrate } from '../../src/infrastructure/database/migrations.ts';
import { databaseUrl, execute } from './database.ts';
import { selectTests } from './tiers.ts';

/*
 * npm test [-- [--system] [files or folders] [tap arguments]]
 *
 * Starts one PostgreSQL server with one migrated template database for the run, then tap. DATABASE_URL names another server.
 */

const root = dirname(fileURLToPath(import.meta.resolve('#package/package.json')));
/** Of this run alone, so that two runs at once do not disturb each other. */
const groupsFolder = join(root, `build/test-groups-${process.pid}`);
const tapProgram = join(
  dirname(createRequire(import.meta.url).resolve('tap/package.json')),
  'dist/esm/run.mjs',
);

/** More processes at once would need more connections than the server has. */
const jobs = Math.min(8, availableParallelism());
/** Milliseconds from SIGTERM to SIGKILL. */
const killDelay = 5_000;

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
  const { groups, systemFiles, tapArguments } = await selectTests(root, args);
  const entries = [...systemFiles.map(compiled), ...(await writeGroups(groups))];
  await buildTap();
  const server = await openServer();
  const id = randomBytes(4).toString('hex');
  const template = `dure_test_template_${id}`;
  try {
    await createTemplate(server.url, template);
    // Tests must not write to the database of the developer.
    const { DATABASE_URL: _, ...environment } = process.env;
    return await runTap(['run', `--jobs=${jobs}`, ...tapArguments, ...entries], {
      ...environment,
      DURE_TEST_DATABASE_URL: server.url,
      DURE_TEST_TEMPLATE: template,
    });
  } finally {
    await dropDatabases(server.url, template, `dure_test_${id}_`).catch(() => undefined);
    await server.stop();
    await rm(groupsFolder, { recursive: true, force: true });
  }
}

function compiled(file: string): string {
  return join('build', file.replace(/\.ts$/, '.js'));
}

/** tap starts a process for each file that it is given, so each group is one file that runs its test files. */
async function writeGroups(groups: string[][]): Promise<string[]> {
  await mkdir(groupsFolder, { recursive: true });
  return Promise.all(
    groups.map(async (files, index) => {
      const path = join(groupsFolder, `group-${index + 1}.js`);
      const source = `import { runGroup } from '../test/support/group.js';\nawait runGroup(${JSON.stringify(files)});\n`;
      await writeFile(path, source);
      return path;
    }),
  );
}

async function openServer(): Promise<Server> {
  if (process.env.DATABASE_URL) return { url: process.env.DATABASE_URL, stop: async () => undefined };
  const directory = await mkdtemp(join(tmpdir(), 'dure-test-'));
  const removeDirectory = () => rm(directory, { recursive: true, force: true });
  try {
    const { url, stop } = await startEmbeddedServer({ directory });
    // Durability costs time and serves no test.
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
  // PostgreSQL copies a database only while it has no connection.
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

/** tap is distributed with a TypeScript loader that needs TypeScript 5; .taprc leaves it out, which takes a build of tap. */
async function buildTap(): Promise<void> {
  const built = await readFile(createRequire(tapProgram).resolve('@tapjs/test/built'), 'utf8');
  if (!built.includes('@tapjs/typescript')) return;
  if ((await runTap(['build'], process.env)) !== 0) throw new Error('`tap build` failed');
}

async function runTap(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  interruption.signal.throwIfAborted();
  // A process group of its own, so that a signal reaches the test files too.
  const tap = spawn(process.execPath, [tapProgram, ...args], {
    cwd: root,
    env,
    stdio: 'inherit',
    detached: true,
  });
  const stop = () => {
    signalGroup(tap, 'SIGTERM');
    setTimeout(() => signalGroup(tap, 'SIGKILL'), killDelay).unref();
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
    // The group has ended.
  }
}
