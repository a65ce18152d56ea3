import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';
import t from 'tap';
import { root } from '../../../../test/support/files.ts';
import { atMost } from '../../../../test/support/time.ts';
import { startService } from '../clients.ts';
import { installPacked, run, typeErrors } from './packed.ts';

const { folder, files } = await installPacked(t);

const readme = await readFile(join(root, 'packages/client/README.md'), 'utf8');
const story = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? '';
await writeFile(join(folder, 'story.ts'), story);

t.test('the packages have what they need, and nothing else', (t) => {
  t.equal(files.length, 2);
  for (const paths of files) {
    for (const path of ['dist/index.js', 'dist/index.d.ts', 'dist/cjs/index.js', 'src/index.ts'])
      t.ok(paths.includes(path), path);
    const others = paths.filter((path) => !/^(dist|src)\/[\w/-]+\.(js|d\.ts|tsx?)(\.map)?$/.test(path));
    t.same(others.sort(), ['LICENSE', 'README.ko.md', 'README.md', 'dist/cjs/package.json', 'package.json']);
  }
  t.end();
});

t.test(
  'the story of the README runs as it is on Node.js, and leaves nothing that keeps the process alive',
  async (t) => {
    const { baseUrl } = await startService(t);
    const lines = story.trimEnd().split('\n');
    t.ok(lines.length > 1 && lines.length <= 50, `${lines.length} lines`);
    t.ok(lines.every(({ length }) => length <= 110));
    const { code } = await transform(story.replace('http://localhost:3000', baseUrl), { loader: 'ts' });
    await writeFile(join(folder, 'story.mjs'), code);
    const { stdout, stderr } = await run(process.execPath, ['story.mjs'], {
      cwd: folder,
      timeout: atMost(30_000),
    });
    t.equal(stderr, '');
    const output = stdout.trim().split('\n');
    t.match(output, [/골목 꽃집.*요청했습니다/, '수락됨'], stdout);
    t.equal(output.length, 2);
  },
);

t.test('its types work in strict apps', async (t) => {
  await copyFile(join(root, 'packages/client/test/system/consumer.ts'), join(folder, 'consumer.ts'));
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  await symlink(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
  const inBrowser = { lib: ['es2022', 'dom'], types: [], exactOptionalPropertyTypes: true };
  const inNode = { lib: ['es2022'], types: ['node'], module: 'nodenext' };
  const sources = ['consumer.ts', 'story.ts'];
  // The newest TypeScript, and an older one.
  const bundled = { ...inBrowser, module: 'esnext', moduleResolution: 'bundler' };
  t.equal(await typeErrors(folder, sources, bundled, '.'), '', 'a bundler');
  t.equal(await typeErrors(folder, sources, inNode, 'packages/client'), '', 'Node.js');
  const old = { ...inBrowser, module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '5.0' };
  t.equal(await typeErrors(folder, ['consumer.ts'], old, 'packages/client'), '', 'CommonJS, as Jest has it');
});

t.test('it can be required, as Jest does', async (t) => {
  const script = `const { createClient, isApiError } = require('@dure/client');
const dure = createClient({ baseUrl: 'http://api.test', fetch: async () => Response.json({ message: '', data: { items: [] } }) });
dure.posts.list().then(({ items }) => console.log(items.length, isApiError(undefined)));`;
  await writeFile(join(folder, 'required.cjs'), script);
  // Newer ones can require ES modules, too.
  const options = process.allowedNodeEnvironmentFlags.has('--no-experimental-require-module')
    ? ['--no-experimental-require-module']
    : [];
  const { stdout } = await run(process.execPath, [...options, 'required.cjs'], { cwd: folder });
  t.equal(stdout.trim(), '0 false');
});

t.test('everything together is smaller than 14 kB, and what is not used is left out', async (t) => {
  const size = async (contents: string) => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
      logLevel: 'error',
    });
    return gzipSync(outputFiles[0]?.contents ?? '').length;
  };
  const app = await size(`
    import { browserStorage, createBaseClient, isApiError, items, listPosts, logIn } from '@dure/client';
    const dure = createBaseClient({ baseUrl: '/api', storage: browserStorage() });
    export const submit = (input) => dure.method(logIn)(input).catch((error) => isApiError(error, 'logIn') && error.detail);
    export const search = (q) => items(dure.method(listPosts), { q });`);
  t.ok(app > 1_000 && app <= 8_000, `an app that logs in and lists posts takes ${app} bytes`);
  const all = await size(`
    import { browserStorage, createClient } from '@dure/client';
    export { isApiError, items, LoginWithError, memoryStorage, pages, supportsPasskeys } from '@dure/client';
    export { ApiError, NetworkError, TimeoutError, UnexpectedResponseError } from '@dure/client';
    export const dure = createClient({ baseUrl: '/api', storage: browserStorage() });`);
  t.ok(all > 1_000 && all < 14_000, `${all} bytes`);
  const some = await size(`export { isApiError, items } from '@dure/client'`);
  t.ok(some < 1_000, `${some} bytes`);
  t.ok((await size(`import '@dure/client'`)) < 100);
});
