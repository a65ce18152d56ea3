import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The last migration of the baseline. Until there is a tag `v*`, the commit that added it is the release before. */
export const baseline = '20261130090001_functions';

const run = promisify(execFile);

/** Folder of the repository. */
export const root = dirname(fileURLToPath(import.meta.resolve('#package/package.json')));

/** A release that operators run. */
export interface Release {
  version: string;
  commit: string;
}

/**
 * The newest tag `v*` among the ancestors of this commit, else the commit of the baseline.
 *
 * @returns undefined where this is no clone, or one without that commit
 */
export async function findLastRelease(): Promise<Release | undefined> {
  try {
    const tag = await git('describe', '--tags', '--abbrev=0', '--match=v[0-9]*', 'HEAD^').catch(() => '');
    if (tag !== '') return { version: tag.slice(1), commit: await git('rev-parse', `${tag}^{commit}`) };
    const path = `prisma/migrations/${baseline}/migration.sql`;
    const added = 'log --first-parent -m --diff-filter=A -1 --format=%H --'.split(' ');
    const commit = await git(...added, path);
    return commit === '' ? undefined : { version: '0.1.0', commit };
  } catch {
    return undefined;
  }
}

/** Runs git in the repository. @returns what it printed, without the white space around it */
export async function git(...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: root, maxBuffer: 2 ** 26 });
  return stdout.trim();
}
