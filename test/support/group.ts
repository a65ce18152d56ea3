import { join } from 'node:path';
import process from 'node:process';
import t from 'tap';
import { isFirst } from './files.ts';
import { cpuSeconds } from './time.ts';

/*
 * DURE_TEST_FILES=<compiled test files> node group.js <folder of the run> <name of this process>
 *
 * Runs those of the files that no other process has taken, one after the other in this process, because starting Node and loading
 * the app costs more than most files do. Their tests queue in the root test while the file loads; the apps of a file are closed
 * before the next file starts.
 */
const [folder = ''] = process.argv.slice(2);
const files = process.env['DURE_TEST_FILES']?.split(' ') ?? [];

// The tests have a limit each.
t.setTimeout(0);
// Timers of the service keep no process alive: a test that waits for one of them, and for nothing else, would end unfinished.
const longest = 2 ** 31 - 1;
const alive = setInterval(() => undefined, longest);
for (const [index, file] of files.entries()) {
  // Only the files of a group are shared.
  if (files.length > 1 && !isFirst(join(folder, String(index)))) continue;
  const before = cpuSeconds();
  await t.test(file, async () => {
    await import(`#package/${file}`);
  });
  // In line after the tests of the file. A file alone leaves nothing to close, and is waited for as well.
  await t.test(`${file}: end`, async () => {
    if (files.length === 1) return;
    const { closeApps } = await import('./app.ts');
    await closeApps();
  });
  t.comment(`${cpuSeconds() - before} s of CPU`);
}
clearInterval(alive);
