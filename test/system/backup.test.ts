import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { migrate } from '../../src/infrastructure/database/migrations.ts';
import { createTestApp, logIn, relayed, signUpUser, suspend, type TestApp } from '../support/app.ts';
import { lockRows } from '../support/concurrency.ts';
import { databaseUrl, execute } from '../support/database.ts';
import { uploadImage } from '../support/images.ts';
import {
  openTwoVerifiedShops,
  readRequest,
  requestPartnership,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createServer, postgresPrograms, rolePassword } from '../support/postgres.ts';
import { run } from '../support/processes.ts';
import { countRows } from '../support/rows.ts';
import { createPost, idsIn } from '../support/stores.ts';

const { skip } = postgresPrograms;

/** The status of the large file of an image. */
async function statusOf({ call }: TestApp, { url }: { url: string }): Promise<number> {
  return (await call('GET', new URL(url).pathname)).status;
}

t.test('a backup brings back the database and the images, and nothing else', { skip }, async (t) => {
  const folder = t.testdir();
  const { superuser, superuserUrl, url } = await createServer(t, folder);
  await migrate(url);
  await t.test('the role of the service owns its database only', async (t) => {
    const rights = await execute(
      url,
      `SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls,
         ARRAY(SELECT datname::text FROM pg_database WHERE datallowconn AND has_database_privilege(datname, 'CONNECT'))
       FROM pg_roles WHERE rolname = current_user`,
    );
    t.strictSame(rights, [false, ['dure']]);
    await t.rejects(execute(url, 'CREATE DATABASE other'), { code: '42501' });
  });

  const environment = { DATA_DIR: join(folder, 'data') };
  const environmentOfScripts = { ...superuser, ...environment, DURE_PASSWORD: rolePassword };
  const backUp = async () => {
    const env = { ...environmentOfScripts, PGUSER: 'dure', PGPASSWORD: rolePassword, PGDATABASE: 'dure' };
    return (await run('deploy/backup/backup.sh', [join(folder, 'backups')], { env })).stdout.trim();
  };
  const restore = (backup: string, other = {}) =>
    run('deploy/backup/restore.sh', [backup], { env: { ...environmentOfScripts, ...other } });

  // A service with rows, images, and emails that wait.
  const before = await createTestApp({ ...environment, WORKER_ENABLED: 'false' }, { databaseUrl: url });
  const { sender, receiver, post } = await openTwoVerifiedShops(before);
  const image = await uploadImage(before, receiver.token);
  const pictured = await createPost(before, receiver.token, { title: '봄꽃 세트', images: [image.url] });
  const request = await sendRequest(before, sender, post);
  await relayed(before);
  t.ok((await countRows(before, 'graphile_worker.jobs')) > 0);
  await before.pool.query(`INSERT INTO outbox (mail) VALUES ('{"kind": "partner_request_ended"}')`);
  const relay = await lockRows(t, before, 'SELECT FROM outbox FOR UPDATE');
  // What an operator adds with the rights of a superuser is not the service's to restore.
  await execute(databaseUrl(superuserUrl, 'dure'), 'CREATE EXTENSION pg_trgm', 'CREATE SCHEMA monitoring');
  const backup = await backUp();
  await relay.release();

  // What happens after the backup, and is lost.
  const late = await signUpUser(before);
  const lateImage = await uploadImage(before, receiver.token);
  t.equal((await transition(before, receiver, request, 'accept')).status, 200);
  const deleted = await before.call('DELETE', `/api/v1/posts/${pictured.id}/`, { token: receiver.token });
  t.equal(deleted.status, 200);

  await t.test('a restore rejects while the service is connected, and changes nothing', async (t) => {
    await t.rejects(restore(backup), /being accessed by other users/);
    t.equal((await before.call('GET', '/auth/me/', { token: late.token })).status, 200);
    t.equal(await statusOf(before, lateImage), 200);
  });

  await before.close();
  await t.test('a restore that fails puts everything back', async (t) => {
    const failing = restore(backup, { DURE_PASSWORD: 'another' });
    await t.rejects(failing, /password authentication failed.*not restored/s);
    const same = await createTestApp(environment, { databaseUrl: url });
    const { rows } = await same.pool.query(`SELECT datname FROM pg_database WHERE datname LIKE 'dure%'`);
    t.strictSame(rows, [{ datname: 'dure' }]);
    t.equal((await same.call('GET', '/auth/me/', { token: late.token })).status, 200);
    t.equal(await statusOf(same, lateImage), 200);
    await same.close();
  });
  await execute(superuserUrl, 'DROP DATABASE dure');
  rmSync(environment.DATA_DIR, { recursive: true });
  mkdirSync(environment.DATA_DIR);
  await restore(backup);
  t.strictSame(await migrate(url), [], 'no migration is left to apply');

  const after = await createTestApp(environment, { databaseUrl: url });
  t.teardown(after.close);
  await t.test('rows and images of the backup are back, and nothing after it', async (t) => {
    const { token } = await logIn(after, receiver);
    const response = await after.call('GET', `/api/v1/posts/${pictured.id}/`, { token });
    t.match(response.body.data, { title: '봄꽃 세트', images: [image.url] });
    t.equal(await statusOf(after, image), 200);
    t.equal(await statusOf(after, lateImage), 404);
    const found = await after.call('GET', `/api/v1/posts/?q=${encodeURIComponent('꽃세트')}`, { token });
    t.strictSame(idsIn(found), [pictured.id]);
    t.equal((await readRequest(after, { token }, request)).body.data.status, '요청됨');
    t.rejects(logIn(after, late), /invalid_credentials/);
  });

  await t.test('every session has ended', async (t) => {
    for (const { token } of [sender, receiver]) {
      t.equal((await after.call('GET', '/auth/me/', { token })).status, 401);
    }
  });

  await t.test('emails that waited are not sent, and kept for the operator', async (t) => {
    await after.mails.settled();
    t.strictSame(after.mails.sent, []);
    const { rows } = await after.pool.query('SELECT kind, reason FROM failed_mails ORDER BY kind');
    const reason = 'waited when the backup was made';
    t.strictSame(rows, [
      { kind: 'partner_request_ended', reason },
      { kind: 'partner_request_received', reason },
    ]);
  });

  await t.test('new rows get ids that were never used, and triggers count', async (t) => {
    const user = await signUpUser(after);
    t.ok(user.id > late.id);
    const { token } = await logIn(after, sender);
    const again = await requestPartnership(after, { token }, pictured);
    t.equal(again.status, 201);
    t.ok(again.body.data.id > request);
    const own = await logIn(after, receiver);
    const { body } = await after.call('GET', '/api/v1/notifications/unread-count/', { token: own.token });
    t.equal(body.data.unread_count, 2);
    await suspend(after, sender);
    t.equal((await after.call('GET', '/auth/me/', { token })).status, 401);
  });

  await t.test('the role of the service owns everything', async (t) => {
    const { rows } = await after.pool.query(`
    SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname IN ('public', 'graphile_worker') AND relkind IN ('r', 'S', 'v')`);
    t.strictSame(rows, [{ owner: 'dure' }]);
  });
});
