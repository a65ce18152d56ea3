import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';

/*
 * npm run generate
 *
 * Writes src/generated/ from openapi.yaml, unless it is newer than the document and than this script:
 * api.ts has the types, operations.ts how each operation is called, methods.ts which of them are methods of a client, with their
 * documentation, enums.ts the values that have a name, version.ts that of the package.
 */
const document = new URL('../../../openapi.yaml', import.meta.url);
const folder = new URL('../src/generated/', import.meta.url);
const outputs = ['api.ts', 'operations.ts', 'methods.ts', 'enums.ts', 'version.ts'].map(
  (name) => new URL(name, folder),
);
const scripts = ['enums.mjs', 'generate.mjs', 'limits.mjs', 'operation-table.mjs'];
const manifest = new URL('../package.json', import.meta.url);
const sources = [document, manifest, ...scripts.map((name) => new URL(name, import.meta.url))];

const modified = async (url) => (await stat(url)).mtimeMs;
const newestSource = Math.max(...(await Promise.all(sources.map(modified))));
const isFresh =
  outputs.every((url) => existsSync(url)) &&
  Math.min(...(await Promise.all(outputs.map(modified)))) > newestSource;

if (!isFresh) {
  // To load them takes a second.
  const { default: ts } = await import('typescript');
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const { parse } = await import('yaml');
  const { enums } = await import('./enums.mjs');
  const { describeLimits } = await import('./limits.mjs');
  const { operationTable } = await import('./operation-table.mjs');
  const { version } = JSON.parse(await readFile(manifest, 'utf8'));
  const text = await readFile(document, 'utf8');
  const described = parse(text);
  describeLimits(described);
  const transform = ({ format, contentMediaType }) => {
    const isFile = format === 'binary' || contentMediaType !== undefined;
    const name = isFile ? 'FormFile' : format === 'uuid' && 'Uuid';
    return name ? ts.factory.createTypeReferenceNode(name) : undefined;
  };
  // A property with a default may be left out of a request.
  const types = astToString(await openapiTS(described, { defaultNonNullable: false, transform }));
  const { table, methods } = operationTable(parse(text));
  await mkdir(folder, { recursive: true });
  const contents = [
    `import type { FormFile, Uuid } from '../operation-call.ts';\n${types}`,
    table,
    methods,
    enums(described),
    `export const version = '${version}';
`,
  ];
  for (const [index, url] of outputs.entries()) {
    await writeFile(
      url,
      `// Generated from openapi.yaml by scripts/generate.mjs.
${contents[index]}`,
    );
  }
}
