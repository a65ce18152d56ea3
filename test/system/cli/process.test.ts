import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import t from 'tap';
import { createEmptyDatabase } from '../../support/database.ts';
import { root } from '../../support/files.ts';
import { runScript } from '../../support/processes.ts';
import { production } from '../../support/service.ts';

const unreachable = 'postgresql://dure:wQ3v9eLk2xRt7y@127.0.0.1:1/dure';

t.test('an unreachable database is one line that says where it is, without the password', async (t) => {
  const commands = [
    { script: 'build/src/cli.js', args: ['stats'] },
    { script: 'build/src/migrate.js', args: [] },
    { script: 'build/src/server.js', args: [] },
  ];
  for (const { script, args } of commands) {
    const environment = { ...production, MIGRATE_ON_START: 'true', DATABASE_URL: unreachable };
    const { code, stdout, stderr } = await runScript(script, args, environment);
    t.equal(code, 1, script);
    t.equal(stdout, '', 'nothing on standard output');
    t.match(
      stderr,
      /^(dure: )?the database dure at 127\.0\.0\.1:1 cannot be reached: connect ECONNREFUSED \S+\n$/,
      script,
    );
    t.notMatch(stderr, 'wQ3v9eLk2xRt7y');
  }
});

t.test('migrations need the variables of the database only, in production too', async (t) => {
  const database = await createEmptyDatabase();
  const environment = { NODE_ENV: 'production', DATABASE_DIRECT_URL: database };
  const applied = await runScript('build/src/cli.js', ['migrate', 'up', '--json'], environment);
  t.equal(applied.code, 0, applied.stderr);
  const { applied: migrations } = JSON.parse(applied.stdout);
  t.match(migrations[0], { name: /^\d{14}_/, milliseconds: Number });
  t.equal(applied.stderr, '');
  const again = await runScript('build/src/migrate.js', [], environment);
  t.strictSame([again.code, again.stdout, again.stderr], [0, 'nothing to apply\n', '']);
  const status = await runScript('build/src/cli.js', ['migrate', 'status'], environment);
  t.equal(status.code, 0);
  t.equal(status.stdout.split('\n').length, migrations.length + 2, 'a heading and a line for each');

  const users = await runScript('build/src/cli.js', ['users', 'list', '--json'], environment);
  t.equal(users.code, 4, 'accounts need the configuration of the service');
  t.match(JSON.parse(users.stderr), {
    error: { code: 'invalid_configuration', message: /JWT_SECRET.*MAIL_FROM/ },
  });
});

t.test('a reader that closes the pipe is no failure', async (t) => {
  const child = spawn(process.execPath, ['build/src/cli.js', 'config', 'check'], {
    cwd: root,
    env: { JWT_SECRET: production.JWT_SECRET },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  child.stdout.destroy();
  t.strictSame([...(await once(child, 'close')), stderr], [0, null, '']);
});
