import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { closeApps } from './app.ts';

/**
 * Runs those of some test files that no other process has taken, one after the other in this process, because starting Node and
 * loading the app costs more than most files do. Their tests queue in the root test while the file loads; the apps of a file are
 * closed before the next file starts.
 *
 * @param files compiled test files, relative to the root of the repository
 * @param folder of the run, in which each file that is taken has a folder
 */
export async function runGroup(files: string[], folder: string): Promise<void> {
  // The tests have a limit each.
  t.setTimeout(0);
  for (const [index, file] of files.entries()) {
    if (!claim(join(folder, String(index)))) continue;
    // A file may have set it.
    t.jobs = 1;
    await t.test(file, async () => {
      await import(`#package/${file}`);
    });
    await t.test(`end of ${file}`, closeApps);
  }
}

/** Makes a folder. Synchronous, because tap ends when it waits for nothing of its own. @returns false when it exists already */
function claim(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
