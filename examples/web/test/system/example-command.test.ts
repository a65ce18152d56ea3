import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import t from 'tap';
import { createTestApp } from '../../../../test/support/app.ts';
import { createTestDatabase } from '../../../../test/support/database.ts';
import { root, temporaryFolder } from '../../../../test/support/files.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { spawnService, startService } from '../../../../test/support/service.ts';
import { createPost, openShop } from '../../../../test/support/stores.ts';
import { until } from '../../../../test/support/until.ts';

const script = ['scripts/example.mjs'];

t.test('npm run example serves the service and the frontend, and ends both', async (t) => {
  // What `npm run example` builds, and `npm test` does not. The types are those that `npm test` has checked.
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noCheck'], {
    cwd: root,
  });
  const database = await createTestDatabase();
  const frontendUrl = `http://localhost:${await freePort()}`;
  const port = String(await freePort());
  const environment = {
    PORT: port,
    FRONTEND_URL: frontendUrl,
    DATABASE_URL: database,
    DATA_DIR: temporaryFolder(t),
  };
  const example = await startService(environment, script);
  t.teardown(() => example.end('SIGKILL'));
  await until('the frontend', () => example.output().includes(`The frontend is at ${frontendUrl}`));
  t.match(await read(`${frontendUrl}/src/api.ts`), `http://localhost:${port}`, 'it calls this service');
  const app = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: database });
  const post = await createPost(app, (await openShop(app)).token, { title: '나누는 글' });
  const title = 'property="og:title" content="나누는 글 · 두레 카페"';
  // A service that is slow gives no title for a minute.
  await until('the title of a shared post', async () =>
    (await read(`${frontendUrl}/posts/${post.id}`))?.includes(title),
  );
  const preflight = await fetch(`${example.url}/auth/login/`, {
    method: 'OPTIONS',
    headers: { origin: frontendUrl, 'access-control-request-method': 'POST' },
  });
  t.equal(preflight.headers.get('access-control-allow-origin'), frontendUrl, 'which allows its origin');

  const second = spawnService(environment, script);
  t.teardown(() => second.end('SIGKILL'));
  await until('the end of a second one', () => second.child.exitCode !== null);
  t.equal(second.child.exitCode, 1);
  t.match(second.output(), `Something already answers at http://localhost:${port}`);

  t.match(await example.end('SIGTERM'), { code: 0 });
  t.equal(await read(frontendUrl), undefined, 'the frontend has ended, too');
});

/** @returns undefined where nothing answers */
async function read(url: string): Promise<string | undefined> {
  try {
    return await (await fetch(url)).text();
  } catch {
    return undefined;
  }
}
