import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import process from 'node:process';

// `prisma generate` resolves a schema engine binary that it never runs, and would download it. Naming any
// existing executable skips the download, so that this step works without a network.
const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js');
execFileSync(process.execPath, [prisma, 'generate', '--no-hints'], {
  env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: 'true' },
  stdio: ['ignore', 'ignore', 'inherit'],
});
