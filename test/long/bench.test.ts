import process from 'node:process';
import t from 'tap';
import { run } from '../support/processes.ts';
import { atMost } from '../support/time.ts';

t.setTimeout(atMost(300_000));

// Figures of a few seconds say nothing; it is invalid where the two servers answer differently, or one not at all.
t.test('the hand-written server of the benchmark answers as the service does', async (t) => {
  const args = ['build/bench/run.js', '--seconds', String(atMost(1)), '--rounds', '1'];
  t.match((await run(process.execPath, args)).stdout, '| one-receiver |');
});
