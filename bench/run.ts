import process from 'node:process';
import { say } from './command-line.ts';

/*
 * npm run bench [-- <name>] [options]
 *
 * Runs one measurement of this folder; without a name that of compare.ts.
 */

const [first = ''] = process.argv.slice(2);
const isNamed = first !== '' && !first.startsWith('-');
const args = process.argv.slice(isNamed ? 3 : 2);

const benches: Record<string, () => Promise<void>> = {
  attacks: async () => (await import('./attacks.ts')).attacks(args),
  'clean-up': async () => (await import('./clean-up.ts')).measureCleanUp(args),
  compare: async () => (await import('./compare.ts')).compare(args),
  growth: async () => (await import('./growth.ts')).growth(args),
  scale: async () => (await import('./scale.ts')).scale(args),
  sizing: async () => (await import('./sizing.ts')).sizing(args),
  soak: async () => (await import('./soak.ts')).soak(args),
  streams: async () => (await import('./streams.ts')).streams(args),
};

const run = benches[isNamed ? first : 'compare'];
if (run) {
  await run();
  // Not when the last socket is closed: a client that was cut off waits for its time-out.
  process.exit();
}
say(`Usage: npm run bench -- [<name>], where <name> is one of: ${Object.keys(benches).join(', ')}`);
process.exitCode = 2;
