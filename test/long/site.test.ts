import { spawnSync } from 'node:child_process';
import t from 'tap';
import { root } from '../support/files.ts';
import { atMost } from '../support/time.ts';

t.setTimeout(atMost(180_000));

t.test('the documents build as a site, without a dead link', async (t) => {
  // The hooks of tap are not for the build.
  const command = ['-u', 'NODE_OPTIONS', 'npm', 'run', '--silent', '--prefix', 'scripts/site', 'build'];
  const { status, stdout, stderr } = spawnSync('env', command, { cwd: root, encoding: 'utf8' });
  t.equal(status, 0, `${stdout}\n${stderr}`);
});
