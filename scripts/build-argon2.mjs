import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';

/*
 * npm run build:argon2
 *
 * Compiles argon2 for the processor of this machine, or with the ARGON2_CFLAGS of the environment: its prebuilt binary for
 * x86-64 uses SSE2 only and takes 1.6 times the processor time per hash. Where a compiler or the headers of Node.js are missing,
 * or the compilation fails, the prebuilt binary stays in use. It tries once per installation and downloads nothing.
 */
const folder = join(import.meta.dirname, '../node_modules/argon2');
const built = join(folder, 'build');
// As in an installation of Node.js, and in its official images.
const prefix = dirname(dirname(process.execPath));
// The one that npm brings, which names it to the scripts that it runs.
const nodeGyp = process.env.npm_config_node_gyp ?? '';
const tools = ['make', 'g++', 'python3'];

if (process.arch === 'x64' && process.platform === 'linux' && !existsSync(built) && canCompile()) {
  mkdirSync(built);
  const flags = process.env.ARGON2_CFLAGS || '-march=native';
  try {
    execFileSync(process.execPath, [nodeGyp, 'rebuild', `--nodedir=${prefix}`], {
      cwd: folder,
      env: { ...process.env, CFLAGS: flags },
      stdio: 'pipe',
    });
    process.stdout.write(`argon2 was compiled with ${flags}\n`);
  } catch (error) {
    process.stderr.write(`argon2 was not compiled, its prebuilt binary stays in use: ${error.message}\n`);
  }
}

function canCompile() {
  if (!existsSync(nodeGyp) || !existsSync(join(prefix, 'include/node/node_api.h'))) return false;
  const folders = (process.env.PATH ?? '').split(':');
  return tools.every((tool) => folders.some((path) => existsSync(join(path, tool))));
}
