import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { readText, root, temporaryFolder } from '../../../../test/support/files.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { without } from '../../../../test/support/requirements.ts';
import { serve } from '../../../../test/support/serve.ts';
import { until } from '../../../../test/support/until.ts';

const html = '<meta property="og:title" content="두레" /><title>두레</title>';
const titleOf = async (url: string) => /<title>([^<]*)/.exec(await (await fetch(url)).text())?.[1];

/** Serves the pages of shared posts beside a service in which each post but the second one has a title. */
async function startShare(t: Test, loginStatus = 200) {
  const requests: string[] = [];
  const api = await serve(t, ({ url = '' }, response) => {
    requests.push(url);
    const id = /\/posts\/(\d+)\//.exec(url)?.[1];
    const login = { access: 'token', expires_in: 600, user: { id: 1 } };
    const data = id ? { title: `글 ${id}`, store: { name: '두레 카페' } } : login;
    response.statusCode = id === '2' ? 503 : id ? 200 : loginStatus;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ success: true, message: '', data }));
  });
  const folder = temporaryFolder(t);
  await writeFile(join(folder, 'index.html'), html);
  const port = await freePort();
  const account = { SHARE_USERNAME: 'shared-posts', SHARE_PASSWORD: 'password' };
  start(t, process.execPath, [join(root, 'examples/web/share.mjs'), folder], {
    ...account,
    API_URL: api,
    PORT: `${port}`,
  });
  const origin = `http://localhost:${port}`;
  await until('the host', () => titleOf(origin).catch(() => undefined));
  return { requests, folder, port, titleOf: (id: string) => titleOf(`${origin}/posts/${id}`) };
}

/** Starts a program until the test ends. */
function start(t: Test, program: string, args: string[], environment: Record<string, string>): void {
  const started = spawn(program, args, { env: { ...process.env, ...environment }, stdio: 'inherit' });
  t.teardown(() => started.kill());
}

t.test('the host reads each title once a minute, with one login', async (t) => {
  const { requests, titleOf } = await startShare(t);
  const ids = ['1', '1', '9007199254740991'];
  const titles = ['글 1 · 두레 카페', '글 1 · 두레 카페', '글 9007199254740991 · 두레 카페'];
  t.strictSame(await Promise.all(ids.map(titleOf)), titles);
  t.strictSame(await Promise.all(ids.map(titleOf)), titles);
  t.equal(await titleOf('2'), '두레', 'an error leaves the page as it was, without a second attempt');
  t.equal(await titleOf('2'), '두레');
  t.equal(await titleOf('12345678901234567'), '두레', 'what is no id');
  t.strictSame(requests.sort(), [
    '/api/v1/posts/1/',
    '/api/v1/posts/2/',
    '/api/v1/posts/9007199254740991/',
    '/auth/login/',
  ]);
});

t.test('a login that fails is not tried again for each page', async (t) => {
  const { requests, titleOf } = await startShare(t, 401);
  for (const id of ['1', '3']) t.equal(await titleOf(id), '두레');
  t.strictSame(requests, ['/auth/login/']);
});

t.test('Caddy serves files, shared posts and the app', { skip: without('caddy') }, async (t) => {
  const { folder, port } = await startShare(t);
  await writeFile(join(folder, 'app.js'), '// the app');
  const site = `http://localhost:${await freePort()}`;
  const [, block = ''] =
    /```\n(app\.example\.com \{[\s\S]*?)```/.exec(readText('examples/web/README.md')) ?? [];
  const replacements = { 'app.example.com': site, '/srv/my-frontend/dist': folder, '5174': `${port}` };
  const own = Object.entries(replacements).reduce((text, [from, to]) => text.replace(from, to), block);
  const config = join(temporaryFolder(t), 'Caddyfile');
  await writeFile(config, `{\n\tadmin off\n\tlog {\n\t\tlevel ERROR\n\t}\n}\n${own}`);
  start(t, 'caddy', ['run', '--config', config], { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder });
  await until('Caddy', () => titleOf(site).catch(() => undefined));
  t.equal(await titleOf(`${site}/posts/1`), '글 1 · 두레 카페');
  t.equal(await titleOf(`${site}/posts/1?from=kakao`), '글 1 · 두레 카페');
  for (const path of ['/', '/posts/new', '/requests/7']) t.equal(await titleOf(site + path), '두레', path);
  t.equal(await (await fetch(`${site}/app.js`)).text(), '// the app');
});
