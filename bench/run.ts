import process from 'node:process';

/*
 * npm run bench [-- <name>] [options]
 *
 * Runs one measurement of this folder; without a name the table of compare.ts.
 */

const benches: Record<string, () => Promise<unknown>> = {
  compare: () => import('./compare.ts'),
  refusals: () => import('./refusals.ts'),
};

const [name = 'compare'] = process.argv
  .slice(2)
  .filter((argument, index) => index === 0 && !argument.startsWith('-'));
const run = benches[name];
if (run === undefined) {
  process.stderr.write(
    `Usage: npm run bench -- [<name>], where <name> is one of: ${Object.keys(benches).join(', ')}\n`,
  );
  process.exitCode = 2;
} else {
  await run();
}
