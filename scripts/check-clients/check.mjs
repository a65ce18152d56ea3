import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import PQueue from 'p-queue';
import { isNewer } from '../is-newer.mjs';
import { checkPages, pages } from './pages.mjs';

/*
 * npm run check -- clients
 *
 * Checks that client teams can work with openapi.yaml: Spectral finds nothing, generators make TypeScript clients that compile
 * under `strict` without renamed or untyped parts, and the types of the newest release still fit. That bundlers, Node.js and
 * TypeScript find the parts of the packages, as ES modules and as CommonJS. And that the TypeScript of the pages compiles.
 */

const run = promisify(execFile);
const folder = import.meta.dirname;
const root = join(folder, '../..');
const document = join(root, 'openapi.yaml');
const service = join(root, 'src');
const output = join(folder, 'build');

/** Program and arguments, and whether it needs Node 22 or newer. */
const generators = {
  'openapi-typescript': ['openapi-typescript', [document, '-o', 'api.ts']],
  'openapi-typescript --enum-values': ['openapi-typescript', [document, '--enum-values', '-o', 'api.ts']],
  'hey-api': ['@hey-api/openapi-ts', ['-i', document, '-o', '.', '--logs', 'silent', '--no-log-file'], true],
  orval: ['orval', ['--input', document, '--output', 'api.ts', '--client', 'fetch'], true],
  'swagger-typescript-api': [
    'swagger-typescript-api',
    ['generate', '-p', document, '-o', '.', '-n', 'api.ts'],
  ],
  oazapfts: ['oazapfts', [document, 'api.ts']],
};

const packages = ['client', 'react'].map((name) => join(root, 'packages', name));

/** What is checked again when one of its sources is newer. */
const parts = {
  document: {
    sources: [document],
    steps: {
      ...Object.fromEntries(Object.keys(generators).map((name) => [name, () => generate(name)])),
      'types of the newest release': generateReleased,
      spectral: lint,
    },
    last: ['strict compilation', compile],
  },
  packages: {
    sources: packages.flatMap((path) => [
      ...['package.json', 'tsconfig.json', 'tsconfig.commonjs.json'].map((name) => join(path, name)),
      ...filesIn(join(path, 'src')),
    ]),
    steps: { 'publint and attw': checkPackages },
  },
  pages: {
    sources: [...pages, ...packages.flatMap((path) => filesIn(join(path, 'src'))), ...filesIn(service)],
    steps: { 'code of the pages': () => checkPages(join(output, 'pages')) },
  },
};

const own = filesIn(folder, false);
const problems = [];
const queue = new PQueue({ concurrency: availableParallelism() });
await Promise.all(Object.entries(parts).map(([name, part]) => check(name, part)));
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

async function check(name, { sources, steps, last }) {
  const passed = join(output, name, 'passed');
  if (isNewer(passed, [...sources, ...own])) {
    process.stdout.write(`${name}: unchanged since it passed\n`);
    return;
  }
  await rm(dirname(passed), { recursive: true, force: true });
  await mkdir(dirname(passed), { recursive: true });
  const all = Object.entries(steps).map(([title, run]) => queue.add(() => step(title, run)));
  const outcomes = await Promise.all(all);
  if (last) outcomes.push(await queue.add(() => step(...last)));
  if (outcomes.every(Boolean)) await writeFile(passed, '');
}

/** @returns whether it passed */
async function step(name, check) {
  try {
    await check();
    process.stdout.write(`${name}: passed\n`);
    return true;
  } catch (error) {
    problems.push(`${name}: ${[error.message, error.stdout, error.stderr].filter(Boolean).join('\n')}`);
    process.stdout.write(`${name}: FAILED\n`);
    return false;
  }
}

/** Runs the program of a package, with the Node of this process or with the newer one of the package `node`. */
function runProgram(
  packageName,
  args,
  { cwd = folder, newerNode = false, bin = packageName.split('/').at(-1) } = {},
) {
  const directory = join(folder, 'node_modules', packageName);
  const { bin: bins } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const program = join(directory, typeof bins === 'string' ? bins : bins[bin]);
  const newer = join(folder, 'node_modules/node/bin');
  const PATH = newerNode ? `${newer}:${process.env.PATH}` : process.env.PATH;
  return run(newerNode ? join(newer, 'node') : process.execPath, [program, ...args], {
    cwd,
    // Generators send usage statistics unless told not to.
    env: { ...process.env, PATH, DO_NOT_TRACK: '1', NODE_OPTIONS: '' },
    maxBuffer: 2 ** 26,
  });
}

function lint() {
  return runProgram(
    '@stoplight/spectral-cli',
    ['lint', document, '--ruleset', join(folder, 'spectral.yaml'), '--fail-severity', 'hint'],
    { bin: 'spectral' },
  );
}

/** What npm would publish, as it was built last. */
async function checkPackages() {
  const archives = join(output, 'packages');
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', archives, ...packages]);
  for (const name of await readdir(archives)) {
    await runProgram('publint', [join(archives, name), '--strict']);
    await runProgram('@arethetypeswrong/cli', [join(archives, name), '--no-color', '--no-emoji'], {
      bin: 'attw',
    });
  }
}

async function generate(name) {
  const [packageName, args, newerNode] = generators[name];
  const cwd = join(output, 'document', name);
  await mkdir(cwd, { recursive: true });
  await runProgram(packageName, args, { cwd, newerNode });
  const files = (await readdir(cwd, { recursive: true }))
    // Code of the generator itself, which is the same for every document.
    .filter((file) => file.endsWith('.ts') && !/^(?:client|core)\//.test(file));
  const source = (await Promise.all(files.map((file) => readFile(join(cwd, file), 'utf8')))).join('\n');
  const found = nameProblems(source);
  if (found.length > 0) throw new Error(found.join('\n'));
}

/** The types of the newest tag's document; before the first tag, those of the current one. */
async function generateReleased() {
  const git = (...args) => run('git', args, { cwd: root, maxBuffer: 2 ** 26 });
  const text = await git('describe', '--tags', '--abbrev=0', '--match', 'v*').then(
    async ({ stdout: tag }) => (await git('show', `${tag.trim()}:openapi.yaml`)).stdout,
    () => readFile(document, 'utf8'),
  );
  const cwd = join(output, 'document/released');
  await mkdir(cwd);
  await writeFile(join(cwd, 'openapi.yaml'), text);
  await runProgram('openapi-typescript', ['openapi.yaml', '-o', 'api.ts'], { cwd });
}

/** Types that were renamed with a number because the name was taken, that differ in case only, or that are `any`. */
function nameProblems(source) {
  const names = [
    ...new Set([...source.matchAll(/^export (?:type|interface|enum) (\w+)/gm)].map(([, name]) => name)),
  ];
  if (names.length === 0) return ['no types'];
  // Three digits are a status: `signUpResponse201`.
  const renamed = names.filter((name) => /\D\d\d?$/.test(name) && names.includes(name.replace(/\d+$/, '')));
  const lowerCased = names.map((name) => name.toLowerCase());
  const twins = names.filter((_, index) => lowerCased.indexOf(lowerCased[index]) !== index);
  const untyped = source.match(/^ +"?[\w-]+"?\??: (?:any|Record<string, any>)(?:\[\])?;?$/gm) ?? [];
  return [
    ...renamed.map((name) => `${name} was renamed`),
    ...twins.map((name) => `${name} differs from another type in case only`),
    ...untyped.map((line) => `untyped: ${line}`),
  ];
}

/** Compiles all clients with the code that a client team would write on them. */
async function compile() {
  for (const file of ['narrowing.ts', 'compatibility.ts'])
    await copyFile(join(folder, file), join(output, 'document', file));
  const config = {
    extends: join(folder, 'strict.json'),
    compilerOptions: { types: [], skipLibCheck: false },
    include: ['.'],
  };
  await writeFile(join(output, 'document/tsconfig.json'), JSON.stringify(config));
  // The repository's compiler takes a tenth of the time of the one that generators need.
  await run(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    join(output, 'document'),
  ]);
}

function filesIn(path, recursive = true) {
  return readdirSync(path, { recursive, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
