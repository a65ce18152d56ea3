import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import process from 'node:process';

/*
 * npm run build:argon2
 *
 * Compiles argon2 for the processor of this machine, or with the ARGON2_CFLAGS of the environment: its prebuilt binary for
 * x86-64 uses SSE2 only and takes 1.6 times the processor time per hash. It needs make, g++, Python and the headers of Node.js,
 * and downloads nothing; where it fails, the prebuilt binary stays in use.
 */
const flags = process.env.ARGON2_CFLAGS || '-march=native';
// As in an installation of Node.js, and in its official images.
const headers = dirname(dirname(process.execPath));

if (process.arch !== 'x64' || process.platform !== 'linux') {
  process.stdout.write('the prebuilt binary of argon2 is used on this system\n');
} else {
  try {
    // npm names the node-gyp that it brings to the scripts that it runs.
    execFileSync(
      process.execPath,
      [process.env.npm_config_node_gyp ?? '', 'rebuild', `--nodedir=${headers}`],
      {
        cwd: join(import.meta.dirname, '../node_modules/argon2'),
        env: { ...process.env, CFLAGS: flags },
        stdio: 'pipe',
      },
    );
    process.stdout.write(`argon2 was compiled with ${flags}\n`);
  } catch (error) {
    process.stderr.write(`argon2 was not compiled, its prebuilt binary stays in use: ${error.message}\n`);
  }
}
