import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { leaveOutAdditions } from './compatibility.mjs';
import { nameProblems } from './names.mjs';

/*
 * npm run check:clients
 *
 * Proves that client teams can work with openapi.yaml: linters find nothing, generators make clients that compile under
 * `strict` without renamed or untyped parts, and the document keeps what the last release promised.
 */

const run = promisify(execFile);
const folder = dirname(fileURLToPath(import.meta.url));
const root = join(folder, '../..');
const document = join(root, 'openapi.yaml');
const output = join(folder, 'build');
// Generators send usage statistics unless told not to.
const environment = {
  ...process.env,
  OPTIC_TELEMETRY_LEVEL: 'off',
  DO_NOT_TRACK: '1',

  NODE_OPTIONS: '',
};

/** The generators of TypeScript clients: program, arguments, and whether it needs Node 22 or newer. */
const generators = {
  'openapi-typescript': ['openapi-typescript', [document, '-o', 'api.ts']],
  'hey-api': ['@hey-api/openapi-ts', ['-i', document, '-o', '.', '--logs', 'silent', '--no-log-file'], true],
  orval: ['orval', ['--input', document, '--output', 'api.ts', '--client', 'fetch'], true],
  'swagger-typescript-api': [
    'swagger-typescript-api',
    ['generate', '-p', document, '-o', '.', '-n', 'api.ts'],
  ],
  oazapfts: ['oazapfts', [document, 'api.ts']],
};

/** Bytes that a program may print. */
const maxBuffer = 64 * 1024 * 1024;

const problems = [];
await rm(output, { recursive: true, force: true });
await mkdir(output, { recursive: true });
// Two at a time, for two cores.
await Promise.all([proveTypeScript(), proveTheRest()]);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
// `npm run check` runs this again only when the document has changed since.
else await writeFile(join(output, 'passed'), '');

async function proveTypeScript() {
  for (const name of Object.keys(generators)) await step(name, () => generate(name));
  await step('strict compilation', compile);
  await step('names', async () => throwAll(await nameProblems(output, Object.keys(generators))));
}

async function proveTheRest() {
  await step('spectral', lint);
  await step('openapi-generator', generateOtherLanguages);
  await step('comparison', proveComparison);
  await step('compatibility', compareWithRelease);
}

/** Runs one proof. It returns why it was skipped, if it was. */
async function step(name, prove) {
  try {
    const skipped = await prove();
    process.stdout.write(`${name}: ${skipped ? `skipped, ${skipped}` : 'passed'}\n`);
  } catch (error) {
    problems.push(`${name}: ${[error.message, error.stdout, error.stderr].filter(Boolean).join('\n')}`);
    process.stdout.write(`${name}: FAILED\n`);
  }
}

function throwAll(found) {
  if (found.length > 0) throw new Error(found.join('\n'));
}

/** The program of a package. */
function programOf(packageName, bin = packageName.split('/').at(-1)) {
  const directory = join(folder, 'node_modules', packageName);
  const { bin: bins } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  return join(directory, typeof bins === 'string' ? bins : bins[bin]);
}

/** Runs the program of a package, with the Node of this process or with the newer one of the package `node`. */
function runProgram(packageName, args, { cwd = root, newerNode = false, bin } = {}) {
  const newer = join(folder, 'node_modules/node/bin');
  const env = newerNode ? { ...environment, PATH: `${newer}:${environment.PATH}` } : environment;
  return run(newerNode ? join(newer, 'node') : process.execPath, [programOf(packageName, bin), ...args], {
    cwd,
    env,
    maxBuffer,
  });
}

async function lint() {
  await runProgram(
    '@stoplight/spectral-cli',
    ['lint', document, '--ruleset', join(folder, 'spectral.yaml'), '--fail-severity', 'hint'],
    { bin: 'spectral' },
  );
}

async function generate(name) {
  const [packageName, args, newerNode] = generators[name];
  const cwd = join(output, name);
  await mkdir(cwd, { recursive: true });
  await runProgram(packageName, args, { cwd, newerNode });
}

/** Compiles all clients with the code that a client team would write on them. */
async function compile() {
  await writeFile(join(output, 'narrowing.ts'), await readFile(join(folder, 'narrowing.ts')));
  const config = {
    compilerOptions: {
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable'],
      module: 'esnext',
      moduleResolution: 'bundler',
      strict: true,
      noEmit: true,
      types: [],
    },
    include: ['.'],
  };
  await writeFile(join(output, 'tsconfig.json'), JSON.stringify(config));
  await runProgram('typescript', ['-p', output], { bin: 'tsc' });
}

/**
 * Clients of a copy in OpenAPI 3.0 for other languages. The jar is that of the last npm package that contains one; newer ones
 * are downloaded from Maven Central.
 */
async function generateOtherLanguages() {
  const hasJava = await run('java', ['-version']).then(
    () => true,
    () => false,
  );
  if (!hasJava && !process.env.CI) return 'there is no java';
  const copy = join(output, 'openapi-3.0.yaml');
  await runProgram('@apiture/openapi-down-convert', ['--input', document, '--output', copy, '--allOf']);
  const text = await readFile(copy, 'utf8');
  // The converter leaves these two.
  await writeFile(copy, text.replaceAll('const: false', 'enum: [false]').replace(/^ {2}summary: .*\n/m, ''));
  const jar = join(folder, 'node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar');
  for (const language of ['kotlin', 'swift5', 'java', 'python']) {
    const folderOfLanguage = join(output, language);
    const { stdout } = await run(
      'java',
      ['-jar', jar, 'generate', '-i', copy, '-g', language, '-o', folderOfLanguage],
      { maxBuffer },
    );
    if (/\] ERROR/.test(stdout)) throw new Error(`${language}: ${stdout.match(/.*\] ERROR.*/g).join('\n')}`);
  }
}

/** Fails when the document breaks a client of the newest release, of which there is a tag. */
async function compareWithRelease() {
  const tag = await run('git', ['describe', '--tags', '--abbrev=0', '--match', 'v*'], { cwd: root }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (tag === undefined) return 'there is no release yet';
  const { stdout } = await run('git', ['show', `${tag}:openapi.yaml`], { cwd: root, maxBuffer });
  await compare('released', parse(stdout), await readDocument());
}

/** Shows that the comparison refuses what breaks a client, and nothing else, on one operation. */
async function proveComparison() {
  const released = await readDocument();
  const path = '/api/v1/notifications/partner-request/';
  released.paths = { [path]: { post: released.paths[path].post } };
  const additions = structuredClone(released);
  const { schemas } = additions.components;
  schemas.PartnerRequest.properties.added = { description: 'A new field', type: 'string' };
  schemas.NewPartnerRequest.properties.added = { description: 'A new optional field', type: 'string' };
  schemas.PartnerRequestStatus.enum.push('추가됨');
  schemas.AddedError = structuredClone(schemas.OwnPostError);
  schemas.AddedError.properties.code.const = 'added';
  schemas.CreatePartnerRequestConflictError.oneOf.push({ $ref: '#/components/schemas/AddedError' });
  await compare('additions', released, additions);
  const removal = structuredClone(released);
  delete removal.components.schemas.PartnerRequest.properties.message;
  const isRefused = await compare('removal', released, removal).then(
    () => false,
    () => true,
  );
  if (!isRefused) throw new Error('a removed field is not refused');
}

/** @throws when the current document breaks a client of the released one */
async function compare(name, released, current) {
  leaveOutAdditions(released, current);
  const files = [join(output, `${name}-before.yaml`), join(output, `${name}-after.yaml`)];
  await writeFile(files[0], stringify(released, { aliasDuplicateObjects: false }));
  await writeFile(files[1], stringify(current, { aliasDuplicateObjects: false }));
  await runProgram('@useoptic/optic', ['diff', ...files, '--check', '--severity', 'error'], {
    bin: 'optic',
    cwd: output,
  });
}

async function readDocument() {
  return parse(await readFile(document, 'utf8'));
}
