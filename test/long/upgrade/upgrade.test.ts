import { join } from 'node:path';
import process from 'node:process';
import t from 'tap';
import { root } from '../../../scripts/last-release.ts';
import { buildLastRelease } from '../../support/last-release.ts';
import { run } from '../../support/processes.ts';
import { unless } from '../../support/requirements.ts';
import { atMost } from '../../support/time.ts';
import { until } from '../../support/until.ts';
import { mailsAbout, startDeployment } from './load.ts';

/*
 * The release before and this one side by side on one database, under load, while the migrations run; then the way back.
 */

// Most of it is the build of the release before.
t.setTimeout(atMost(240_000));

const lastRelease = await buildLastRelease();
const skip = unless(lastRelease !== undefined, 'this clone does not have the commit of the last release');

t.test('an upgrade and the way back do without a failed request', { skip }, async (t) => {
  const before = lastRelease?.folder ?? '';
  const { balancer, provider, environment, start, openStores } = await startDeployment(t);
  const migrate = async (folder: string) =>
    (await run(process.execPath, [join(folder, 'dist/migrate.js')], { env: environment })).stdout;

  await migrate(before);
  let old = await start({}, before);
  const { load, streams, everyEvent } = await openStores();

  t.comment(await migrate(root));
  await load.goOn(1);
  const current = await start();
  await load.goOn(2);
  t.ok(balancer.responsesOf(current) > 20, 'the new one responds beside the old one');
  for (const stream of streams) t.ok(stream.isOpenAt(old), 'a stream stays where it is');

  await balancer.remove(old);
  t.same(await old.end('SIGTERM'), { code: 0, signal: null });
  await load.goOn(2);
  for (const stream of streams) await until('the stream at the new one', () => stream.isOpenAt(current));

  t.comment('the way back');
  old = await start({}, before);
  await load.goOn(2);
  t.equal(await migrate(before), 'nothing to apply\n');
  await balancer.remove(current);
  t.same(await current.end('SIGTERM'), { code: 0, signal: null });
  await load.goOn(2);
  await load.stop();
  t.same(balancer.failures, []);

  await everyEvent(t, 9);
  for (const { ended } of streams) t.equal(ended.length, 2, 'a stream ended with its instance only');

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
