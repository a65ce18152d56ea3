import { spawnSync } from 'node:child_process';
import process from 'node:process';

/** For `skip`: false where a test can run, else the reason why it cannot. @throws in CI, where nothing may be missing */
export function unless(canRun: boolean, reason: string): string | false {
  if (!canRun && process.env['CI']) throw new Error(`${reason}, and CI must not skip a test`);
  return canRun ? false : reason;
}

/** For `skip`: like {@link unless}, for a test that starts a program. */
export function without(program: string): string | false {
  return unless(!spawnSync(program, ['--version']).error, `there is no ${program} here`);
}
