import { spawnSync } from 'node:child_process';
import t from 'tap';
import { root } from '../support/files.ts';
import { atMost } from '../support/time.ts';

t.setTimeout(atMost(300_000));

// Figures of one second say nothing; it is invalid where the two servers answer differently.
t.test('the hand-written server of the benchmark answers as the service does', async (t) => {
  const command = ['-u', 'NODE_OPTIONS', 'node', 'build/bench/run.js', '--seconds', '1', '--rounds', '1'];
  const { status, stdout, stderr } = spawnSync('env', command, { cwd: root, encoding: 'utf8' });
  t.equal(status, 0, `${stdout}\n${stderr}`);
  t.match(stdout, '| one-receiver |');
});
