import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { root, sharedFolder, temporaryFolder } from '../../../../test/support/files.ts';

export const run = promisify(execFile);
/** An app that has both packages as `npm pack` writes them. What these need of others is not installed. */
export async function installPacked(t: Test): Promise<{ folder: string; files: string[][] }> {
  const folder = temporaryFolder(t);
  await cp(await sharedFolder('packed-packages', install), folder, { recursive: true });
  const packed: Packed[] = JSON.parse(await readFile(join(folder, 'packed.json'), 'utf8'));
  return { folder, files: packed.map(({ files }) => files.map(({ path }) => path)) };
}

interface Packed {
  filename: string;
  files: { path: string }[];
}

async function install(folder: string): Promise<void> {
  const app = { name: 'app', private: true, type: 'module' };
  await writeFile(join(folder, 'package.json'), JSON.stringify(app));
  // `npm test` has built them already.
  const options = ['--ignore-scripts', '--json', '--pack-destination', folder];
  const workspaces = ['--workspace', 'packages/client', '--workspace', 'packages/react'];
  const { stdout } = await run('npm', ['pack', ...options, ...workspaces], { cwd: root });
  await writeFile(join(folder, 'packed.json'), stdout);
  const archives = JSON.parse(stdout).map(({ filename }: Packed) => join(folder, filename));
  await run('npm', ['install', '--offline', '--legacy-peer-deps', '--no-audit', '--no-fund', ...archives], {
    cwd: folder,
  });
}

/**
 * What TypeScript says about files of an app that is strict.
 *
 * @param place whose version of TypeScript: the root has the newest, `packages/client` an older one, which takes four times as long
 */
export async function typeErrors(
  folder: string,
  files: string[],
  options: object,
  place: string,
): Promise<string> {
  const strict = { strict: true, noEmit: true, skipLibCheck: false, target: 'es2022' };
  const config = { compilerOptions: { ...strict, ...options }, files };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  return run(process.execPath, [join(root, place, 'node_modules/typescript/bin/tsc'), '-p', folder]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}
