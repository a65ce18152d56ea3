import process from 'node:process';
import t from 'tap';
import { compileCache, root } from './files.ts';

/** Seconds that a process may take, unless it says otherwise. */
const timeout = 120;

/** Runs each test file in a process of its own. @param files relative to the root of the repository, or absolute */
export function runProcesses(files: string[]): void {
  // The processes have a limit each.
  t.setTimeout(0);
  t.jobs = Number(process.env['TAP_JOBS']);
  for (const file of files) {
    // In NODE_OPTIONS are the hooks.
    const cache = `NODE_COMPILE_CACHE=${compileCache}`;
    const command = ['-u', 'NODE_OPTIONS', cache, process.execPath, '--enable-source-maps', file];
    void t.spawn('env', command, { cwd: root, buffered: true, timeout: timeout * 1_000 }, file);
  }
}
