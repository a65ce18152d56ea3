import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { json } from 'node:stream/consumers';
import t from 'tap';
import { root, temporaryFolder } from '../../../../test/support/files.ts';
import { serve } from '../../../../test/support/serve.ts';
import { caught } from '../clients.ts';
import { run } from '../system/packed.ts';

interface Published {
  name: string;
  'dist-tags': Record<string, string>;
  versions: Record<string, object>;
}

t.test('packages are published together: neither is `latest` before both are there', async (t) => {
  const { version } = JSON.parse(await readFile(join(root, 'packages/client/package.json'), 'utf8'));
  const kept = new Map<string, Published>();
  let isBroken = true;
  /** As much of the registry of npm as a release uses. */
  const registry = await serve(t, async (request, response) => {
    const [path = ''] = decodeURIComponent(request.url ?? '').split('?');
    const name = /@dure\/\w+/.exec(path)?.[0] ?? '';
    const respond = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    const found = kept.get(name);
    if (request.method === 'GET' && path.endsWith('/dist-tags'))
      return respond(200, found?.['dist-tags'] ?? {});
    if (request.method === 'GET') return found ? respond(200, found) : respond(404, { error: 'not_found' });
    const body: unknown = await json(request);
    if (path.endsWith('/dist-tags/latest')) {
      if (found) found['dist-tags']['latest'] = String(body);
    } else if (isBroken && name === '@dure/react') return respond(403, { error: 'of the registry' });
    else kept.set(name, body as Published);
    return respond(200, {});
  });
  const { host } = new URL(registry);
  // `npm test` has built them already, and other tests read them.
  const built = { NPM_CONFIG_IGNORE_SCRIPTS: 'true' };
  const env = {
    ...process.env,
    ...built,
    NPM_CONFIG_REGISTRY: registry,
    [`npm_config_//${host}/:_authToken`]: 'any',
  };
  const publish = (tag: string) =>
    run(process.execPath, [join(root, 'scripts/publish-packages.mjs'), tag], { env, cwd: root });
  const tags = () => [...kept.values()].map(({ name, 'dist-tags': given }) => ({ name, ...given }));

  t.match(await caught(publish('v0.0.0')), { stderr: /not of the tag v0\.0\.0/ });
  t.same(tags(), []);
  t.match(await caught(publish(`v${version}`)), { stderr: /of the registry/ });
  t.same(tags(), [{ name: '@dure/client', next: version }]);
  isBroken = false;
  await publish(`v${version}`);
  t.same(tags(), [
    { name: '@dure/client', next: version, latest: version },
    { name: '@dure/react', next: version, latest: version },
  ]);
});

t.test('a release is of the version in package.json, and its changes have a date', async (t) => {
  const folder = temporaryFolder(t);
  const script = join(folder, 'scripts/release-notes.mjs');
  await cp(join(root, 'scripts/release-notes.mjs'), script);
  await writeFile(join(folder, 'package.json'), '{ "version": "1.2.3" }');
  const notesOf = async (tag: string, title: string) => {
    await writeFile(
      join(folder, 'CHANGELOG.md'),
      `## ${title}\n\n- New.\n\n## 1.2.2, 2026-01-30\n\n- Old.\n`,
    );
    return run(process.execPath, [script, tag]);
  };
  t.match(await caught(notesOf('v0.0.0', '1.2.3, 2026-01-31')), { stderr: /not of the tag v0\.0\.0/ });
  t.match(await caught(notesOf('v1.2.3', '1.2.3, not released')), { stderr: /CHANGELOG\.md has no/ });
  t.equal((await notesOf('v1.2.3', '1.2.3, 2026-01-31')).stdout, '- New.\n');
});
