import t from 'tap';
import { run } from '../support/processes.ts';
import { atMost } from '../support/time.ts';

t.setTimeout(atMost(180_000));

t.test('the documents build as a site, without a dead link', (t) =>
  t.resolves(run('npm', ['run', '--silent', '--prefix', 'scripts/site', 'build'])),
);
