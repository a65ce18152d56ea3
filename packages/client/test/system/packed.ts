import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { root, temporaryFolder } from '../../../../test/support/files.ts';

export const run = promisify(execFile);
/** An app that has the packages as `npm pack` writes them. What these need of others is not installed. */
export async function installPacked(
  t: Test,
  workspaces: string[],
): Promise<{ folder: string; files: string[][] }> {
  const folder = temporaryFolder(t);
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'app', private: true, type: 'module' }),
  );
  // `npm test` has built them already.
  const options = ['--ignore-scripts', '--json', '--pack-destination', folder];
  const names = workspaces.flatMap((workspace) => ['--workspace', workspace]);
  const { stdout } = await run('npm', ['pack', ...options, ...names], { cwd: root });
  const packed: { filename: string; files: { path: string }[] }[] = JSON.parse(stdout);
  const archives = packed.map(({ filename }) => join(folder, filename));
  await run('npm', ['install', '--offline', '--legacy-peer-deps', '--no-audit', '--no-fund', ...archives], {
    cwd: folder,
  });
  return { folder, files: packed.map(({ files }) => files.map(({ path }) => path)) };
}

/** Expects that each package has what it needs, and nothing else. */
export async function checkFiles(t: Test, packages: string[][]): Promise<void> {
  for (const files of packages) {
    for (const path of ['dist/index.js', 'dist/index.d.ts', 'dist/cjs/index.js', 'src/index.ts'])
      t.ok(files.includes(path), path);
    const others = files.filter((path) => !/^(dist|src)\/[\w/-]+\.(js|d\.ts|tsx?)(\.map)?$/.test(path));
    t.same(others.sort(), ['LICENSE', 'README.ko.md', 'README.md', 'dist/cjs/package.json', 'package.json']);
  }
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
