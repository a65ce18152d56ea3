import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { root } from '../../../scripts/last-release.ts';
import { createEmptyDatabase } from '../../support/database.ts';
import { buildLastRelease } from '../../support/last-release.ts';
import { createProvider } from '../../support/provider.ts';
import { unless } from '../../support/requirements.ts';
import { production, startService } from '../../support/service.ts';
import { atMost } from '../../support/time.ts';
import { until } from '../../support/until.ts';
import { runProcess } from '../../system/cli/process.ts';
import { createBalancer, followStream, mailsAbout, openStore, startLoad } from './load.ts';

/*
 * The release before and this one side by side on one database, under load, while the migrations run; then the way back.
 */

// Most of it is the build of the release before.
t.setTimeout(atMost(240_000));

const lastRelease = await buildLastRelease();
const skip = unless(lastRelease !== undefined, 'this clone does not have the commit of the last release');

t.test('an upgrade and the way back do without a failed request', { skip }, async (t) => {
  const before = lastRelease?.folder ?? '';
  const database = await createEmptyDatabase();
  const provider = await createProvider(t);
  const environment = {
    ...production,
    DATABASE_URL: database,
    DATA_DIR: t.testdir(),
    RESEND_BASE_URL: provider.url,
    RATE_LIMIT_ENABLED: 'false',
    QUOTA_POSTS_PER_DAY: '0',
    QUOTA_EDITS_PER_DAY: '0',
    QUOTA_REQUESTS_PER_DAY: '0',
  };
  const migrate = async (folder: string) => {
    const { code, stdout, stderr } = await runProcess(join(folder, 'dist/migrate.js'), [], environment);
    t.equal(code, 0, stderr || 'the migrations are applied');
    return stdout;
  };
  const start = async (folder: string) => {
    const service = await startService(environment, [join(folder, 'dist/server.js')]);
    t.teardown(() => service.end('SIGKILL'));
    t.equal((await fetch(`${service.url}/health/ready`)).status, 200, 'ready');
    return service;
  };

  await migrate(before);
  const balancer = createBalancer();
  let old = await start(before);
  balancer.add(old);
  const owners = ['reader', 'writer', 'sender', 'receiver'].map((name) =>
    openStore(balancer, provider, name),
  );
  const [reader, writer, sender, receiver] = await Promise.all(owners);
  if (!reader || !writer || !sender || !receiver) throw new Error('there are four owners');
  const streams = [sender, receiver].map(({ token }) => followStream(balancer, token));
  const load = startLoad(balancer, provider, [reader, writer, sender, receiver]);
  t.teardown(async () => {
    for (const stream of streams) await stream.stop();
    await load.stop().catch(() => undefined);
  });
  await load.goOn(1);

  t.comment(await migrate(root));
  await load.goOn(1);
  const current = await start(root);
  balancer.add(current);
  await load.goOn(2);
  t.ok(balancer.responsesOf(current) > 20, 'the new one responds beside the old one');
  for (const stream of streams) t.ok(stream.isOpenAt(old), 'a stream stays where it is');

  await balancer.remove(old);
  t.same(await old.end('SIGTERM'), { code: 0, signal: null });
  await load.goOn(2);
  for (const stream of streams) t.ok(stream.isOpenAt(current), 'a stream goes on at the new one');

  t.comment('the way back');
  old = await start(before);
  balancer.add(old);
  await load.goOn(2);
  t.equal(await migrate(before), 'nothing to apply\n');
  await balancer.remove(current);
  t.same(await current.end('SIGTERM'), { code: 0, signal: null });
  await load.goOn(2);
  await load.stop();
  t.same(balancer.failures, []);

  await t.test('every stream had every notification once, and ended with its instance only', async (t) => {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    t.teardown(() => client.end());
    for (const [index, { username }] of [sender, receiver].entries()) {
      const { rows } = await client.query<{ id: number }>(
        'SELECT n.id FROM notifications n JOIN users u ON u.id = n.user_id WHERE u.username = $1 ORDER BY n.id',
        [username],
      );
      const ids = rows.map(({ id }) => Number(id));
      const stream = streams[index];
      await until('the last notification', () => stream?.ids.at(-1) === ids.at(-1));
      t.same(stream?.ids, ids);
      t.ok(ids.length >= 9);
      t.equal(stream?.ended.length, 2);
      await stream?.stop();
    }
  });

  await t.test('every email was sent once, whichever release queued it', async (t) => {
    await until('the mails', () => load.signedUp.every((email) => provider.taken(email).length > 0));
    for (const email of load.signedUp) t.equal(provider.taken(email).length, 1);
    for (const { title, receiver, sender } of load.accepted) {
      // Of the request and of its end.
      await until(title, () => mailsAbout(provider, receiver, title) === 2);
      t.equal(mailsAbout(provider, sender, title), 1);
    }
  });
  await old.end('SIGTERM');
});
