import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { run } from './run.mjs';

/*
 * npm start, npm run dev, npm run example
 *
 * Builds the service and runs it: with the settings of the image, or compiled and restarted on each change, or with the frontend
 * of examples/web. On Ctrl-C the terminal signals this process and the service, and npm's shell waits for it; a SIGTERM to npm ends
 * only npm and its shell, which is noticed below.
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
      UV_THREADPOOL_SIZE: process.env.UV_THREADPOOL_SIZE || String(Math.max(4, 2 * availableParallelism())),
    },
  },
  dev: { scripts: ['build'], programs: [compiler.split(' '), ['--watch', ...service]], hasChildren: true },
  example: {
    scripts: ['build', 'build:client'],
    programs: [['--enable-source-maps', 'scripts/example.mjs']],
  },
};

const { scripts, programs, variables, hasChildren = false } = modes[process.argv[2] ?? 'start'];
const { ppid } = process;
if (!existsSync('node_modules/typescript')) {
  process.stderr.write('The packages are not installed. Run: npm ci\n');
  process.exit(1);
}
process.stderr.write('Building. The first time takes some seconds.\n');
run(...scripts.map((script) => `npm run --silent ${script}`));

// In a terminal, lines of the log are shown for people. What is no JSON stays as it is.
const isTerminal = process.stdout.isTTY && process.env.NODE_ENV !== 'production';
const terminal =
  isTerminal &&
  (await import('pino-pretty')).default({
    ignore: 'pid,hostname',
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    sync: true,
  });
const output = isTerminal ? 'pipe' : 'inherit';

let isEnding = false;
const children = programs.map((args) =>
  spawn(process.execPath, args, {
    // A group of its own, with what runs below it.
    detached: hasChildren,
    env: { ...process.env, ...variables },
    // The channel closes when this process is killed, which the service notices.
    stdio: ['ignore', output, output, ...(hasChildren ? [] : ['ipc'])],
  }),
);
for (const child of children) {
  child.stdout?.pipe(terminal, { end: false });
  // After what was logged before.
  child.stderr?.on('data', (text) => setImmediate(() => process.stderr.write(text)));
  child.on('exit', (code) => {
    process.exitCode ||= code ?? (isEnding ? 0 : 1);
    end('SIGTERM');
    if (hasChildren) endGroup(child.pid);
  });
}
for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM']) process.on(signal, () => end(signal));
// The terminal was closed: nothing can be written there, and Node.js cannot reset it at its end, which it takes for a fault.
process.once('SIGHUP', () => {
  for (const stream of [process.stdout, process.stderr, terminal])
    if (stream) stream.on('error', () => undefined);
  if (process.stderr.isTTY) process.once('exit', () => process.kill(process.pid, 'SIGKILL'));
});

// An npm that is killed sends no signal, one that gets SIGTERM sends it to its shell only.
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
    process.kill(-pid, 'SIGTERM');
  } catch {
    // Nothing is left.
  }
}
