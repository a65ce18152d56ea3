import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

const own = (name) => join(import.meta.dirname, name);
const root = own('../..');

/** The pages whose TypeScript is checked. `npm run check -- document` holds that their Korean versions have the same code. */
export const pages = ['docs', 'docs/client', 'docs/development', 'packages/client', 'packages/react']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
  .filter((path) => /(?<!\.ko)\.md$/.test(path));

/** Compiles each block of TypeScript, with the packages as they were built last. What blocks leave out is in `pages.d.ts`. */
export async function checkPages(output) {
  for (const page of pages) {
    const blocks = readFileSync(page, 'utf8').matchAll(/^( *)```(tsx?)\n([\s\S]*?)^\1```$/gm);
    for (const [index, [, , extension, code]] of [...blocks].entries()) {
      const name = /^\/\/ (\S+\.tsx?)\n/.exec(code)?.[1] ?? `block-${index + 1}.${extension}`;
      const file = join(output, page.slice(root.length).replace(/\.md$/, ''), name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, moduleOf(code));
    }
  }
  const config = { extends: own('strict.json'), include: ['.', own('pages.d.ts')] };
  await writeFile(join(output, 'tsconfig.json'), JSON.stringify(config));
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', output]);
}

/** A block that is a part of a function, such as one with `return`, is put into one. */
function moduleOf(code) {
  const isModule = /^ *(import|export) /m.test(code);
  return isModule ? `${code}\nexport {};\n` : `export async function block() {\n${code}}\n`;
}
