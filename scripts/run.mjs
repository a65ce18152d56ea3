import { spawnSync } from 'node:child_process';
import process from 'node:process';

/** Runs commands of the shell one after the other. Where one fails, this process ends with its exit code. */
export function run(...commands) {
  for (const command of commands) {
    const { status } = spawnSync(command, { shell: true, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  }
}
