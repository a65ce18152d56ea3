import { execFileSync, execSync } from 'node:child_process';
import process from 'node:process';
import { isNewer } from './is-newer.mjs';

/*
 * Generates Prisma's client, where it is older than prisma/schema.prisma or than Prisma, which is installed in scripts/prisma.
 */
const client = 'src/infrastructure/database/generated/client.ts';
if (!isNewer(client, ['prisma/schema.prisma', 'scripts/prisma/package-lock.json'])) {
  execSync('node ../install-once.mjs --ignore-scripts --no-engine-strict', {
    cwd: 'scripts/prisma',
    stdio: 'inherit',
  });
  try {
    execFileSync(
      process.execPath,
      ['scripts/prisma/node_modules/prisma/build/index.js', 'generate', '--no-hints'],
      {
        // It does not use its schema engine, and would download it: any program will do.
        env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath },
        stdio: 'pipe',
      },
    );
  } catch (error) {
    process.stderr.write(`${error.stdout}${error.stderr}`);
    process.exitCode = 1;
  }
}
