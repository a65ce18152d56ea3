import process from 'node:process';
import t from 'tap';
import { run } from '../../support/processes.ts';
import { atMost } from '../../support/time.ts';
import { startDeployment } from './load.ts';

/* Two instances are replaced one after the other under load: as for an update, and with each step of the rotation of each secret. */

t.setTimeout(atMost(240_000));

t.test('a rolling update and the rotation of secrets do without a failed request', async (t) => {
  const { balancer, environment, start, openStores } = await startDeployment(t);
  const secrets = { JWT_SECRET: environment.JWT_SECRET, JWT_PRIVATE_KEY: '' };
  const rotate = async (...args: string[]) => {
    const command = ['scripts/dure.mjs', 'secrets', 'rotate', ...args];
    return (await run(process.execPath, command, { env: { ...environment, ...secrets } })).stdout;
  };
  secrets.JWT_PRIVATE_KEY = await rotate('--asymmetric', 'es256', '--step', 'add');
  await run(process.execPath, ['dist/migrate.js'], { env: environment });

  let instances = [await start(secrets), await start(secrets)];
  const { owners, load, streams, everyEvent } = await openStores();
  async function replaceInstances(what: string): Promise<void> {
    t.comment(what);
    for (const old of instances) {
      const next = await start(secrets);
      await balancer.remove(old);
      t.same(await old.end('SIGTERM'), { code: 0, signal: null });
      instances = [...instances.slice(1), next];
    }
    await load.goOn(1);
  }

  await replaceInstances('an update');
  for (const [name, options] of [
    ['JWT_SECRET', []],
    ['JWT_PRIVATE_KEY', ['--asymmetric']],
  ] as const)
    for (const step of ['add', 'switch', 'finish']) {
      // Before the last step, for which operators wait until the tokens of the old one have expired.
      if (step === 'finish')
        for (const owner of owners.slice(1)) {
          const { access, refresh } = await balancer.call('POST', '/auth/token/refresh/', {
            body: { refresh: owner.refresh },
          });
          Object.assign(owner, { token: access, refresh });
        }
      secrets[name] = await rotate(...options, '--step', step);
      await replaceInstances(`${name}: ${step}`);
    }

  await load.stop();
  t.same(balancer.failures, []);
  await everyEvent(t, 9);
  for (const { ended } of streams) t.ok(ended.length <= 14, 'a stream ends with its instance only');
});
