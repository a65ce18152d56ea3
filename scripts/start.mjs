import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { run } from './run.mjs';

/*
 * npm start, npm run dev, npm run example
 *
 * Builds the service and runs it: with the settings of the image, or compiled and restarted on each change, or with the frontend
 * of examples/web.
 */
const service = ['--enable-source-maps', 'dist/server.js'];
const compiler = 'node_modules/typescript/bin/tsc -p tsconfig.build.json --watch --preserveWatchOutput';
const modes = {
  start: {
    scripts: ['build'],
    programs: [['--max-semi-space-size=8', '--heap-growing-percent=100', ...service]],
    // Read before a process starts, so it cannot set them itself. The Dockerfile says what they are for.
    variables: {
      GLIBC_TUNABLES: 'glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1',
      UV_THREADPOOL_SIZE: String(Math.max(4, 2 * availableParallelism())),
    },
  },
  dev: { scripts: ['build'], programs: [compiler.split(' '), ['--watch', ...service]] },
  example: {
    scripts: ['build', 'build:client'],
    programs: [['--enable-source-maps', 'scripts/example.mjs']],
  },
};

const { scripts, programs, variables } = modes[process.argv[2] ?? 'start'];
run(...scripts.map((script) => `npm run --silent ${script}`));

const isWindows = process.platform === 'win32';
let isEnding = false;
const children = programs.map((args) =>
  spawn(process.execPath, args, {
    // A terminal sends Ctrl-C to all processes of its group, and npm sends it once more: these get it from here only, once.
    detached: !isWindows,
    env: { ...variables, ...process.env },
    stdio: 'inherit',
  }),
);
for (const child of children) {
  child.on('exit', (code) => {
    process.exitCode ||= code ?? (isEnding ? 0 : 1);
    end('SIGTERM');
    endGroup(child.pid);
  });
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // On Windows the console sends it to every process.
  process.on(signal, () => isWindows || end(signal));
}

// npm sends SIGTERM to its shell, which ends without this process and is then no longer its parent.
const { ppid } = process;
if (process.env.npm_lifecycle_event !== undefined)
  setInterval(() => process.ppid === ppid || end('SIGTERM'), 500).unref();

/** Ends what runs; a second signal is the same one again. */
function end(signal) {
  if (isEnding) return;
  isEnding = true;
  for (const child of children) child.kill(signal);
}

/** Ends what a program has left, such as the compiler, which runs below its script. */
function endGroup(pid) {
  try {
    if (!isWindows) process.kill(-pid, 'SIGTERM');
  } catch {
    // Nothing is left.
  }
}
