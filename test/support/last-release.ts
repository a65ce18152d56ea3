import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { findLastRelease, git, type Release, root } from '../../scripts/last-release.ts';
import { run } from './processes.ts';

const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'];

/**
 * Builds the release before this one from its commit, with the packages that are installed here. It is kept below build/.
 *
 * @returns its folder, with dist/ and prisma/migrations; undefined where the clone does not have the commit
 */
export async function buildLastRelease(): Promise<(Release & { folder: string }) | undefined> {
  const release = await findLastRelease();
  if (release === undefined) return undefined;
  const folder = join(root, `build/release-${release.commit}`);
  if (!existsSync(folder)) await build(release.commit, folder);
  return { ...release, folder };
}

async function build(commit: string, folder: string): Promise<void> {
  await mkdir(join(root, 'build'), { recursive: true });
  const work = await mkdtemp(`${folder}-`);
  try {
    await git('archive', '--output', join(work, 'source.tar'), commit);
    await run('tar', ['-xf', 'source.tar'], { cwd: work });
    if (await needsOwnPackages(work)) await run('npm', ['ci', '--workspaces=false'], { cwd: work });
    else await symlink(join(root, 'node_modules'), join(work, 'node_modules'));
    await run('npm', ['run', 'build'], { cwd: work });
    await rename(work, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Whether a package is missing here, or has another major version. */
async function needsOwnPackages(folder: string): Promise<boolean> {
  const [then, now] = await Promise.all([folder, root].map(readVersions));
  return [...(then ?? [])].some(([name, version]) => now?.get(name) !== version);
}

/** Major versions by package; of 0.x the minor one, too. */
async function readVersions(folder: string): Promise<Map<string, string>> {
  const content = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const versions = kinds.flatMap((kind) => Object.entries<string>(content[kind] ?? {}));
  return new Map(versions.map(([name, range]) => [name, /0\.\d+|\d+/.exec(range)?.[0] ?? range]));
}
