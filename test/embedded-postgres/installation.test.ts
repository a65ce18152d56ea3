import { chmod, chown, cp, lstat, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import {
  allGone,
  checkNote,
  ORDINARY_USER,
  onlyAsRoot,
  onlyOnLinux,
  onlyWithOrdinaryUser,
  projectFolder,
  query,
  runsAs,
  startElsewhere,
  temporaryFolder,
  writeNote,
} from './support.ts';

t.setTimeout(120_000);
t.jobs = 4;

t.test(
  'root where user namespaces are refused, in folders that only root may enter',
  onlyAsRoot,
  async (t) => {
    const installation = await installSources(t);
    const { folder } = installation;
    await copyBinariesWithoutLinks(folder);
    await writeFile(join(folder, 'unshare'), '#!/bin/sh\necho "unshare: refused" >&2\nexit 1\n', {
      mode: 0o755,
    });
    const refused = { ...installation, env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } };

    await t.test('PostgreSQL runs as another user', async (t) => {
      const directory = join(folder, 'data');
      const starter = startElsewhere(t, directory, refused);
      await writeNote(await starter.says());
      t.notOk(await runsAs(directory, 0));
      await starter.kill('SIGKILL');
      t.ok(await allGone(directory), 'the watchdog can signal it');
      await checkNote(t, directory, 'the data is there');
    });

    await t.test('a database that was made in a user namespace is taken over', async (t) => {
      const directory = join(folder, 'made before');
      const server = await startEmbeddedServer({ directory });
      await writeNote(server.url);
      await server.stop();
      const starter = startElsewhere(t, directory, refused);
      t.same(await query(await starter.says(), 'SELECT text FROM note'), ['kept']);
      await starter.stop();
      await checkNote(t, directory, 'and back');
    });
  },
);

t.test('an installation without the optional dependency says what to do', async (t) => {
  const installation = await installSources(t);
  const starter = startElsewhere(t, join(installation.folder, 'data'), installation);
  t.match(
    await starter.says(),
    /^EmbeddedServerError: No embedded PostgreSQL is installed for .* Set DATABASE_URL /,
  );
});

t.test('an installation without install scripts lacks links, which are created', onlyOnLinux, async (t) => {
  const installation = await installSources(t);
  await copyBinariesWithoutLinks(installation.folder);
  const directory = join(installation.folder, 'data');
  const starter = startElsewhere(t, directory, installation);
  t.same(await query(await starter.says(), 'SELECT 1'), [1]);
  t.notOk((await readdir(directory)).includes('lib'), 'where they belong');
  await starter.stop();
});

t.test(
  'an installation without install scripts that is read-only',
  { ...onlyOnLinux, ...onlyWithOrdinaryUser },
  async (t) => {
    const installation = await installSources(t);
    await copyBinariesWithoutLinks(installation.folder);
    await chmod(installation.folder, 0o755);
    const directory = await temporaryFolder(t);
    await chown(directory, ORDINARY_USER.uid, ORDINARY_USER.gid);
    for (const time of ['first', 'second']) {
      const starter = startElsewhere(t, directory, { ...installation, ...ORDINARY_USER });
      t.same(await query(await starter.says(), 'SELECT 1'), [1], `the ${time} start`);
      await starter.stop();
    }
  },
);

/** A copy of this service's sources with nothing but `pg` installed. */
async function installSources(t: Test): Promise<{ folder: string; script: string }> {
  const folder = await temporaryFolder(t);
  for (const sources of ['src/embedded-postgres', 'test/embedded-postgres']) {
    await cp(join(projectFolder, 'build', sources), join(folder, sources), { recursive: true });
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await mkdir(join(folder, 'node_modules'));
  await symlink(join(projectFolder, 'node_modules/pg'), join(folder, 'node_modules/pg'));
  return { folder, script: join(folder, 'test/embedded-postgres/fixture.js') };
}

async function copyBinariesWithoutLinks(folder: string): Promise<void> {
  const isNoLink = async (path: string) => !(await lstat(path)).isSymbolicLink();
  for (const name of ['embedded-postgres', `@embedded-postgres/${process.platform}-${process.arch}`]) {
    const [from, to] = [projectFolder, folder].map((parent) => join(parent, 'node_modules', name));
    await cp(from ?? '', to ?? '', { recursive: true, filter: isNoLink });
  }
}
