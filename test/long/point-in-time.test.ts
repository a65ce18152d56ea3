import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { migrate } from '../../src/infrastructure/database/migrations.ts';
import { createTestApp, logIn, signUpUser } from '../support/app.ts';
import { execute } from '../support/database.ts';
import { root, temporaryFolder } from '../support/files.ts';
import { openTwoShops, readRequest, sendRequest } from '../support/partner-requests.ts';
import {
  asPostgres,
  createServer,
  postgresPrograms,
  rolePassword,
  startServer,
} from '../support/postgres.ts';
import { run } from '../support/processes.ts';
import { until } from '../support/until.ts';

const { skip } = postgresPrograms;

t.test('the database goes back to the second before a mistake', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const WAL_ARCHIVE = join(folder, 'archive');
  await mkdir(WAL_ARCHIVE);
  const settings = [
    'archive_mode=on',
    'archive_timeout=60',
    `archive_command=WAL_ARCHIVE='${WAL_ARCHIVE}' '${root}/deploy/backup/archive-wal.sh' "%p" "%f"`,
  ];
  const server = await createServer(t, folder, settings);
  await migrate(server.url);
  const before = await createTestApp({}, { databaseUrl: server.url, serverErrors: true });
  t.teardown(before.close);
  const backedUp = await signUpUser(before);
  const environment = { ...server.superuser, WAL_ARCHIVE };
  await run('deploy/backup/base-backup.sh', [], { env: environment });

  const { sender, receiver, post } = await openTwoShops(before);
  const request = await sendRequest(before, sender, post);
  const [time] = await execute(server.url, 'SELECT clock_timestamp()::text');
  await signUpUser(before, { username: 'too_late' });
  await execute(server.url, 'TRUNCATE posts CASCADE');
  // As archive_timeout does within a minute.
  await execute(server.superuserUrl, 'SELECT pg_switch_wal()');
  await before.close();
  await server.stop();

  const restored = join(folder, 'restored');
  const restore = (at: string) => {
    const [command = '', ...args] = [...asPostgres, 'deploy/backup/restore-to-time.sh', at, restored];
    return run(command, args, { env: environment });
  };
  await t.rejects(restore('2001-01-01 00:00:00+00'), /no base backup is older/);
  await restore(String(time));
  const again = await startServer(t, restored, settings);
  await until('a server that accepts writes', async () =>
    (await execute(again.url, 'SELECT NOT pg_is_in_recovery()')).includes(true),
  );
  const restoreSettings = ['restore_command', 'recovery_target_time', 'recovery_target_action'];
  await execute(again.superuserUrl, ...restoreSettings.map((name) => `ALTER SYSTEM RESET ${name}`));
  const env = { ...again.superuser, PGUSER: 'dure', PGPASSWORD: rolePassword, PGDATABASE: 'dure' };
  const script = '--file=deploy/backup/after-restore.sql';
  await run('psql', ['--no-psqlrc', '--single-transaction', script], { env });
  const after = await createTestApp({}, { databaseUrl: again.url });
  t.teardown(after.close);
  t.equal((await after.call('GET', '/health/ready')).status, 200);
  const { token } = await logIn(after, sender);
  t.match((await after.call('GET', `/api/v1/posts/${post.id}/`, { token })).body.data, { title: post.title });
  t.equal((await readRequest(after, { token }, request)).status, 200);
  await t.resolves(logIn(after, backedUp));
  const late = { username: 'too_late', password: receiver.password };
  await t.rejects(logIn(after, late), /invalid_credentials/, 'what came after the time is gone');
  const others = await openTwoShops(after);
  t.ok((await sendRequest(after, others.sender, others.post)) > request, 'new ids are larger');
});
