import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The release that runs on while this one is rolled out, until there is a tag `v*`. */
const untagged = { version: '0.1.0', commit: '1bdfa0b5d0a67817470ca09e7e25ecc097018911' };

const run = promisify(execFile);

/** Folder of the repository. */
export const root = dirname(fileURLToPath(import.meta.resolve('#package/package.json')));

/** A release that operators run. */
export interface Release {
  version: string;
  commit: string;
}

/** The newest release before this commit: the newest tag `v*` among its ancestors, else the one above. @returns undefined where this is no clone, or one without that commit */
export async function findLastRelease(): Promise<Release | undefined> {
  const tag = await git('describe', '--tags', '--abbrev=0', '--match=v[0-9]*', 'HEAD^').catch(() => '');
  const { version, commit } = tag === '' ? untagged : { version: tag.slice(1), commit: tag };
  try {
    return { version, commit: await git('rev-parse', '--verify', `${commit}^{commit}`) };
  } catch {
    return undefined;
  }
}

/** Runs git in the repository. @returns what it printed, without the white space around it */
export async function git(...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: root, maxBuffer: 2 ** 26 });
  return stdout.trim();
}
