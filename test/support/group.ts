import t from 'tap';
import { closeApps } from './app.ts';

/**
 * Runs test files one after the other in this process, because starting Node and loading the app costs more than most files
 * do. Their tests queue in the root test while the file loads; the apps of a file are closed before the next file starts.
 *
 * @param files compiled test files, relative to the root of the repository
 */
export async function runGroup(files: string[]): Promise<void> {
  // The tests have a limit each.
  t.setTimeout(0);
  for (const file of files) {
    // A file may have set it.
    t.jobs = 1;
    await t.test(file, async () => {
      await import(`#package/${file}`);
    });
    await t.test(`end of ${file}`, closeApps);
  }
}
