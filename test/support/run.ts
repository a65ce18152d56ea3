import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { startTestServer } from './database.ts';
import { root } from './files.ts';

/*
 * npm test [-- [--system] [files or folders below test/] [arguments of tap]]
 *
 * Runs tap on one PostgreSQL server for all files. Files of test/system have a process each, others share a few.
 */

/** Of this run alone, so that two runs at once do not disturb each other. */
const groupsFolder = join(root, `build/test-groups-${process.pid}`);
/** One more than cores, because tests wait for a third of their time. Above 8 they would need more connections than the server has. */
const jobs = Math.min(8, availableParallelism() + 1);

const tapPackage = createRequire(import.meta.url).resolve('tap/package.json');
const args = process.argv.slice(2);
const paths = args.filter((arg) => /^(test|packages|examples)\//.test(arg));
const tapArguments = args.filter((arg) => arg !== '--system' && !paths.includes(arg));
const isSystem = (file: string) => /(^|\/)test\/(system|long)\//.test(file);
const selected = select(paths);
/** Large files take long: begun last, one would leave a core idle at the end. */
const bySize = (one: string, other: string) =>
  statSync(join(root, other)).size - statSync(join(root, one)).size;
const groups = await writeGroups(selected.filter((file) => !isSystem(file)));
const server = await startTestServer();
try {
  process.exitCode = await runTap(
    await writeProcesses([...selected.filter(isSystem).sort(bySize), ...groups]),
  );
} finally {
  await server.stop();
  await rm(groupsFolder, { recursive: true, force: true });
}
process.stdout.write(`\nTests ${process.exitCode === 0 ? 'passed' : 'FAILED'}.\n`);

/** The compiled test files in these files and folders, by default those of the fast tier or, with `--system`, of the slow one. */
function select(paths: string[]): string[] {
  const workspaces = ['packages', 'examples'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => `${parent}/${name}/test`),
  );
  const files = ['test', ...workspaces]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .filter((file) => file.endsWith('.test.ts'))
    .sort();
  const missing = paths.find((path) => !files.some((file) => file.startsWith(path)));
  if (missing !== undefined) throw new Error(`${missing} matches no test file`);
  return files
    .filter((file) =>
      paths.length > 0
        ? paths.some((path) => file.startsWith(path))
        : isSystem(file) === args.includes('--system'),
    )
    .map((file) => `build/${file.replace(/\.ts$/, '.js')}`);
}

/**
 * A process for each file costs more than most files do, so there is a process for each job, which runs one file after the other:
 * starting Node, loading the app and compiling its hot code take seconds of CPU.
 */
async function writeGroups(files: string[]): Promise<string[]> {
  await mkdir(groupsFolder, { recursive: true });
  const parameters = [files.sort(bySize), groupsFolder].map((value) => JSON.stringify(value)).join(', ');
  const source = `import { runGroup } from '../test/support/group.js';\nawait runGroup(${parameters});\n`;
  const names = Array.from({ length: Math.min(jobs, files.length) }, (_, index) => `group-${index + 1}.js`);
  return Promise.all(
    names.map(async (name) => {
      await writeFile(join(groupsFolder, name), source);
      return join(groupsFolder, name);
    }),
  );
}

/**
 * Writes the one file that tap runs, which starts a process for each file. tap itself would load hooks into these processes, and
 * into all that they start, to record what they import: a second of CPU each.
 */
async function writeProcesses(files: string[]): Promise<string> {
  const path = join(groupsFolder, 'processes.js');
  const source = `import { runProcesses } from '../test/support/processes.js';\nawait runProcesses(${JSON.stringify(files)});\n`;
  await writeFile(path, source);
  return path;
}

async function runTap(file: string): Promise<number> {
  // Tests must not write to the database of the developer.
  const { DATABASE_URL: _, ...environment } = process.env;
  const env = { ...environment, DURE_TEST_SERVER: server.url, DURE_TEST_TEMPLATE: server.template };
  const run = (command: string[]) =>
    spawn(process.execPath, [join(dirname(tapPackage), 'dist/esm/run.mjs'), ...command], {
      cwd: root,
      env,
      stdio: 'inherit',
      // In a process group of their own, with all processes of the tests.
      detached: true,
    });
  // As npm installs it, tap has a loader that needs TypeScript 5; .taprc leaves it out, which takes a build of tap.
  const built = await readFile(createRequire(tapPackage).resolve('@tapjs/test/built'), 'utf8');
  if (built.includes('@tapjs/typescript')) await once(run(['build']), 'close');
  const tap = run(['run', `--jobs=${jobs}`, ...tapArguments, file]);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => process.kill(-Number(tap.pid), signal));
  const [code] = await once(tap, 'close');
  return typeof code === 'number' ? code : 1;
}
