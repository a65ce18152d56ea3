import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';
import t, { type Test } from 'tap';
import { password } from '../../../../test/support/app.ts';
import { root } from '../../../../test/support/files.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { serve } from '../../../../test/support/serve.ts';
import { createPair, startService } from '../clients.ts';
import { run } from '../system/packed.ts';

/** What this test uses of Miniflare, which runs scripts in the runtime of Cloudflare Workers. */
interface Workers {
  dispatchFetch(url: string, init: { method: string; body: string }): Promise<Response>;
  dispose(): Promise<void>;
}

const home = join(root, 'packages/client/test/long/workerd');
await run(process.execPath, [join(root, 'scripts/install-once.mjs')], { cwd: home });
const { Miniflare }: { Miniflare: new (options: object) => Workers } = createRequire(
  join(home, 'package.json'),
)('miniflare');

/** A Worker whose client is created with the module, as it is in a browser. It runs the function that a request names. */
const worker = (baseUrl: string) => `
import { createClient } from './packages/client/dist/index.js';
const dure = createClient({ baseUrl: '${baseUrl}', retries: 0 });
const work = {
  logIn: async (input) => (await dure.auth.logIn(input)).user.id,
  list: async () => (await dure.posts.list({ mine: true })).items.map(({ title }) => title),
  upload: (input) => dure.images.upload({ image: new Blob([input.text]) }),
  next: ({ after }) => new Promise((resolve) => {
    const onNotification = ({ kind }) => { stop(); resolve(kind); };
    const stop = dure.notifications.subscribe({ after, onNotification });
  }),
};
export default {
  async fetch(request) {
    const { name, input } = await request.json();
    return Response.json(await work[name](input).catch(({ name, message, code }) => ({ name, message, code })));
  },
};`;

/** @returns runs a function of the Worker, in a request of its own */
async function startWorker(t: Test, baseUrl: string, compatibilityDate: string) {
  const { outputFiles } = await build({
    stdin: { contents: worker(baseUrl), resolveDir: root },
    bundle: true,
    format: 'esm',
    write: false,
  });
  const miniflare = new Miniflare({ modules: true, script: outputFiles[0]?.text, compatibilityDate });
  t.teardown(() => miniflare.dispose());
  return async (name: string, input: object = {}): Promise<unknown> => {
    const body = JSON.stringify({ name, input });
    return (await miniflare.dispatchFetch('http://worker.test/', { method: 'POST', body })).json();
  };
}

// Of the oldest runtime that has what the client needs, and of the newest.
for (const date of ['2022-11-30', '2026-07-01']) {
  t.test(`Cloudflare Workers of ${date}: calls, an upload, and live notifications`, async (t) => {
    const service = await startService(t);
    const { receiver, notify } = await createPair(service);
    const call = await startWorker(t, service.baseUrl, date);
    t.equal(await call('logIn', { username: receiver.username, password }), receiver.user.id);
    const lists = await Promise.all([call('list'), call('list'), call('list')]);
    t.same(lists, Array(3).fill(['꽃집을 찾아요']));
    t.match(await call('upload', { text: 'no image' }), { name: 'ApiError', code: 'invalid_image' });
    await notify();
    t.equal(await call('next', { after: 0 }), 'partner_request_received');
  });
}

t.test('errors in a Worker name their cause', async (t) => {
  const unreachable = await startWorker(t, `http://127.0.0.1:${await freePort()}`, '2026-07-01');
  const lost = { name: 'NetworkError', message: /^logIn: no response from .*: Network connection lost/ };
  t.match(await unreachable('logIn', {}), lost);
  const redirecting = await serve(t, (_, response) => {
    response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
  });
  const call = await startWorker(t, redirecting, '2026-07-01');
  t.match(await call('logIn', {}), { name: 'UnexpectedResponseError', message: /redirect/ });
});
