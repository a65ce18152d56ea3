import process from 'node:process';

/*
 * npm run bench -- <name> [options]
 *
 * Runs one measurement of this folder.
 */

const benches: Record<string, () => Promise<unknown>> = {
  refusals: () => import('./refusals.ts'),
  scale: () => import('./scale.ts'),
};

const run = benches[process.argv[2] ?? ''];
if (run === undefined) {
  process.stderr.write(
    `Usage: npm run bench -- <name>, where <name> is one of: ${Object.keys(benches).join(', ')}\n`,
  );
  process.exitCode = 2;
} else {
  await run();
}
