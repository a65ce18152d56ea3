import { register } from 'node:module';
import t, { type Test } from 'tap';

/** The subtest of each test file by the URL of the compiled file; group-hook.ts gives it to the file in place of the root test. */
export const subtests = new Map<string, Test>();

/** A file that runs longer than this is reported as hanging, in milliseconds. */
const fileTimeout = 120_000;

/**
 * Runs test files one after the other in this process, because starting Node and loading the app costs more than most files
 * do. Each file is a subtest with its name; it fails when the file cannot be loaded, and its teardowns run before the next
 * file starts.
 *
 * @param files test files, relative to the root of the repository, such as `test/auth/login.test.ts`
 */
export async function runGroup(files: string[]): Promise<void> {
  register('./group-hook.js', import.meta.url);
  // The files have a limit each.
  t.setTimeout(0);
  for (const file of files) {
    const url = import.meta.resolve(`#package/build/${file.replace(/\.ts$/, '.js')}`);
    await t.test(file, { timeout: fileTimeout }, async (t) => {
      subtests.set(url, t);
      await import(url);
    });
  }
}
