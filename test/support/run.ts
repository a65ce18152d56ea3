import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import PQueue from 'p-queue';
import { startTestServer } from './database.ts';
import { compileCache, createRunFolder, root } from './files.ts';
import { neverSeen } from './never-seen.ts';
import { type FileReport, printReport, printSummary, readReports, startReport } from './report.ts';
import { atMost, timeFactor } from './time.ts';

/*
 * npm test [-- [--system | --long] [files or folders]]
 *
 * Runs test files on one PostgreSQL server. They share a few processes; long ones have one each.
 */

const tierOf = (file: string) => /\/(system|long)\//.exec(file)?.[1] ?? 'fast';
const args = process.argv.slice(2);
const paths = args.filter((arg) => !arg.startsWith('--'));
const tier = ['system', 'long'].find((name) => args.includes(`--${name}`)) ?? 'fast';
/** More than cores, because tests wait, most of all those of the system. Above 8 they would need more connections than the server has. */
const jobs = Math.min(8, availableParallelism() + (tier === 'system' ? 2 : 1));
const selected = selectFiles();
// Tests inherit it.
const { path: folder, remove } = createRunFolder();
const server = await startTestServer();
/** Where processes write which responses they got, when all fast tests run. */
const seen = tier === 'fast' && paths.length === 0 ? join(folder, 'seen') : undefined;
const environment = {
  ...(seen && { DURE_TEST_SEEN: seen }),
  DURE_TEST_SERVER: server.url,
  DURE_TEST_TEMPLATE: server.template,
  DURE_TEST_TIME_FACTOR: String(timeFactor),
  // Seconds that a test may take, unless it says otherwise.
  TAP_TIMEOUT: String(atMost(120)),
  NODE_COMPILE_CACHE: compileCache,
};
const running = new Set<number>();
let isStopped = false;
// npm sends a signal of the terminal a second time. To tap it is the end of one test only.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    isStopped = true;
    for (const pid of running) process.kill(-pid, 'SIGKILL');
  });

let started = 0;
const reports: FileReport[] = [];
try {
  await runFiles();
  if (seen) add(compareWithDocument(seen));
} finally {
  await server.stop();
}
printSummary(reports);
remove();
const hasPassed = reports.length >= selected.length && reports.every(({ failures }) => failures.length === 0);
process.exitCode = hasPassed ? 0 : 1;

/** The test files in the given files and folders, by default those of a tier. Large ones first: begun last, one would leave a core idle. */
function selectFiles(): string[] {
  const files = ['test', 'packages', 'examples']
    .flatMap((top) =>
      readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((name) => `${top}/${name}`),
    )
    .filter((file) => file.endsWith('.test.ts') && !file.includes('/node_modules/'));
  const isIn = (file: string, path: string) =>
    file === path || file.startsWith(`${path.replace(/\/$/, '')}/`);
  const missing = paths.find((path) => !files.some((file) => isIn(file, path)));
  if (missing !== undefined) throw new Error(`${missing} matches no test file`);
  return files
    .filter((file) => (paths.length > 0 ? paths.some((path) => isIn(file, path)) : tierOf(file) === tier))
    .sort((one, other) => statSync(join(root, other)).size - statSync(join(root, one)).size)
    .map((file) => `build/${file.replace(/ts$/, 'js')}`);
}

/** Fails for each response that the document promises and no test got. */
function compareWithDocument(folder: string): FileReport {
  const failures = neverSeen(folder).map((name) => ({ name, text: 'no test gets this response' }));
  return { ...startReport('openapi.yaml'), passed: 1, failures };
}

function add(report: FileReport): void {
  reports.push(report);
  printReport(report);
}

async function runFiles(): Promise<void> {
  const shared = selected.filter((file) => tierOf(file) !== 'long');
  const long = selected.filter((file) => tierOf(file) === 'long').map((file) => [file]);
  const groups = Array.from({ length: Math.min(jobs, shared.length) }, () => shared);
  const processes = new PQueue({ concurrency: jobs });
  await processes.addAll([...long, ...groups].map((files) => () => runProcess(files)));
}

/** Runs files in a process, which ends with all that it started. */
async function runProcess(files: string[]): Promise<void> {
  if (isStopped) return;
  // Tests must not write to the database of the developer.
  const { DATABASE_URL: _, ...inherited } = process.env;
  // The folders that tap makes for a test have the arguments in their names.
  const args = [join(root, 'build/test/support/group.js'), folder, String(++started)];
  const child = spawn(process.execPath, ['--enable-source-maps', ...args], {
    cwd: root,
    env: {
      ...inherited,
      ...environment,
      DURE_TEST_FILES: files.join(' '),
      // Ten for a run: another one beside it begins elsewhere.
      DURE_TEST_PORTS: String(process.pid * 10 + started),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const pid = Number(child.pid);
  running.add(pid);
  let failed = 0;
  const output = readReports((report) => {
    add(report);
    failed += report.failures.length;
  });
  child.stdout.on('data', output.write);
  child.stderr.on('data', output.writeError);
  const [code, signal] = await once(child, 'close');
  running.delete(pid);
  output.end(signal !== null || (code !== 0 && failed === 0) ? `it ended with ${signal ?? code}` : undefined);
}
