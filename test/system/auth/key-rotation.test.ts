import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import t from 'tap';
import { accountsOf } from '../../auth/accounts.ts';
import { decode } from '../../auth/tokens.ts';
import { dure } from '../../cli/command.ts';
import { createTestApp, createUser, type TestApp, testEnvironment } from '../../support/app.ts';
import { inParallel } from '../../support/concurrency.ts';
import { until } from '../../support/until.ts';

const issuer = testEnvironment.PUBLIC_URL;
const [instanceCount, clientCount] = [2, 8];

/** The values that `dure` prints. */
async function valuesOf(JWT_PRIVATE_KEY: string, algorithm: string): Promise<string[]> {
  const { document } = await dure(
    { ...testEnvironment, JWT_PRIVATE_KEY },
    'secrets',
    'rotate',
    '--asymmetric',
    algorithm,
  );
  return document.steps?.map(({ value }: { value: string }) => value) ?? [document.value];
}

/** Instances behind a load balancer, which are replaced one after the other without a lost request. */
async function startCluster(app: TestApp, key: string) {
  const start = async (JWT_PRIVATE_KEY: string) => ({
    instance: await app.startInstance({ JWT_PRIVATE_KEY }),
    requests: new Set<Promise<unknown>>(),
  });
  const members = await inParallel(instanceCount, () => start(key));
  let turn = 0;

  async function send<Result>(request: (at: TestApp) => Promise<Result>): Promise<Result> {
    const member = members[turn++ % members.length];
    if (member === undefined) throw new Error('there are no instances');
    const sent = request(member.instance);
    member.requests.add(sent);
    return sent.finally(() => member.requests.delete(sent));
  }

  async function deploy(value: string): Promise<void> {
    for (const [index, { instance, requests }] of [...members.entries()]) {
      members[index] = await start(value);
      await Promise.all(requests);
      await instance.close();
    }
  }

  return { send, deploy };
}

t.test('no token is refused wrongly while keys are rotated three times under load', async (t) => {
  const app = await createTestApp({ WORKER_ENABLED: 'false' });
  const { me, refresh } = accountsOf(app);
  const [first = ''] = await valuesOf('', 'es256');
  const { send, deploy } = await startCluster(app, first);
  // Another service, which asks for the keys only when those that it keeps are too old.
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`), {
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: async (url) => {
      const { text } = await send(({ call }) => call('GET', new URL(url).pathname));
      return new Response(text);
    },
  });
  const refusals: unknown[] = [];
  const signedBy = new Set<string>();
  let [checks, isDone] = [0, false];
  /** What each client did with its newest tokens. */
  const refreshes = Array.from({ length: clientCount }, () => 0);

  async function runClient(index: number): Promise<void> {
    let { refresh: current } = await createUser(app);
    while (!isDone) {
      const { status, body } = await send((at) => refresh(current, at));
      if (status !== 200) refusals.push(['refresh', status, body]);
      current = body.data.refresh;
      refreshes[index] = (refreshes[index] ?? 0) + 1;
      signedBy.add(decode(body.data.access).header.kid);
      // As many as there are instances, and more.
      for (let use = 0; use < 3 && !isDone; use++) {
        const [own] = await Promise.all([
          send((at) => me(body.data.access, at)),
          jwtVerify(body.data.access, keys, { issuer }).catch((error) => refusals.push(error.code)),
        ]);
        if (own.status !== 200) refusals.push(['me', own.status, own.body]);
        checks++;
        await nextTurn();
      }
    }
  }

  /** Stands for the lifetime of access tokens: afterwards no client has one from before. */
  async function tokensExpire(): Promise<void> {
    const before = [...refreshes];
    const isNewer = (count: number, index: number) => count > (before[index] ?? 0) + 1;
    await until('new tokens of every client', () => refreshes.every(isNewer));
  }

  const clients = inParallel(clientCount, runClient);
  await tokensExpire();
  let deployed = first;
  for (const algorithm of ['eddsa', 'es256', 'eddsa']) {
    const [added = '', switched = '', finished = ''] = await valuesOf(deployed, algorithm);
    await deploy(added);
    // Five minutes, after which the other service asks again.
    await keys.reload();
    await deploy(switched);
    await tokensExpire();
    await deploy(finished);
    deployed = finished;
  }
  await tokensExpire();
  isDone = true;
  await clients;
  t.strictSame(refusals, []);
  t.equal(signedBy.size, 4, 'each of the keys signed');
  t.ok(checks > 100, `${checks} checks`);
});
