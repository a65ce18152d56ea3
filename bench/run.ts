import process from 'node:process';

/*
 * npm run bench [-- <name>] [options]
 *
 * Runs one measurement of this folder; without a name the table of compare.ts.
 */

const benches: Record<string, () => Promise<unknown>> = {
  'clean-up': () => import('./clean-up.ts'),
  compare: () => import('./compare.ts'),
  edits: () => import('./edits.ts'),
  growth: () => import('./growth.ts'),
  'long-pages': () => import('./long-pages.ts'),
  logins: () => import('./logins.ts'),
  mails: () => import('./mails.ts'),
  pushes: () => import('./pushes.ts'),
  rejections: () => import('./rejections.ts'),
  near: () => import('./near.ts'),
  scale: () => import('./scale.ts'),
  sizing: () => import('./sizing.ts'),
  signatures: () => import('./signatures.ts'),
  'saved-searches': () => import('./saved-searches.ts'),
  'slow-readers': () => import('./slow-readers.ts'),
  statements: () => import('./statements.ts'),
  streams: () => import('./streams.ts'),
  uploads: () => import('./uploads.ts'),
};

const [first = ''] = process.argv.slice(2);
const run = benches[first === '' || first.startsWith('-') ? 'compare' : first];
if (run === undefined) {
  process.stderr.write(
    `Usage: npm run bench -- [<name>], where <name> is one of: ${Object.keys(benches).join(', ')}\n`,
  );
  process.exitCode = 2;
} else {
  await run();
}
