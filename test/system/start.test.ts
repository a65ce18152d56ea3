import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { root } from '../support/files.ts';
import { run } from '../support/processes.ts';
import { until } from '../support/until.ts';

/** A service that prints how it was started and each signal that it gets, and ends half a second after the first one. */
const service = `
  const { env, execArgv } = process;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'])
    process.on(signal, () => {
      console.log(signal);
      setTimeout(() => process.exit(3), 500);
    });
  console.log(JSON.stringify({ threads: env.UV_THREADPOOL_SIZE, tunables: env.GLIBC_TUNABLES, execArgv }));
  setInterval(() => undefined, 1_000);`;

/** Runs the script of `npm start` in a folder where nothing needs to be built, until its service runs. */
async function start(
  t: Test,
  { shell = false, ...variables }: { shell?: boolean; UV_THREADPOOL_SIZE?: string } = {},
) {
  const folder = t.testdir({
    npm: '#!/bin/sh\n',
    dist: { 'server.js': service },
    node_modules: { typescript: {} },
  });
  const { UV_THREADPOOL_SIZE: _, GLIBC_TUNABLES: __, ...env } = process.env;
  chmodSync(join(folder, 'npm'), 0o755);
  const script = join(root, 'scripts/start.mjs');
  // As npm does: some shells become their only command, others wait for it.
  const child = spawn('sh', ['-c', shell ? '"$@"; :' : 'exec "$@"', 'sh', process.execPath, script], {
    cwd: folder,
    // In a group of its own, as at a terminal.
    detached: true,
    env: { ...env, PATH: `${folder}${delimiter}${env.PATH}`, ...variables, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  await until('the service', () => output.includes('\n'));
  return { pid: child.pid ?? 0, lines: () => output.trimEnd().split('\n'), closed };
}

t.test('npm start gives Node.js the settings of the image', async (t) => {
  for (const [variables, threads] of [
    [{}, String(Math.max(4, 2 * availableParallelism()))],
    [{ UV_THREADPOOL_SIZE: '7' }, '7'],
  ] as const) {
    const { pid, lines, closed } = await start(t, variables);
    process.kill(pid, 'SIGTERM');
    await closed;
    t.strictSame(JSON.parse(lines()[0] ?? ''), {
      threads,
      tunables: 'glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1',
      execArgv: ['--max-semi-space-size=8', '--heap-growing-percent=100', '--enable-source-maps'],
    });
  }
});

t.test('the image gives Node.js threads for all cores, unless it has a number', async (t) => {
  const { UV_THREADPOOL_SIZE: _, ...env } = process.env;
  const threads = async (variables: Record<string, string>) => {
    const command = ['deploy/entrypoint.sh', 'node', '--print', 'process.env.UV_THREADPOOL_SIZE'];
    return (await run('sh', command, { env: { ...env, ...variables } })).stdout.trim();
  };
  t.equal(await threads({}), String(Math.max(4, 2 * availableParallelism())));
  t.equal(await threads({ UV_THREADPOOL_SIZE: '7' }), '7');
});

t.test('a signal reaches the service, and its exit code is that of npm start', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { pid, lines, closed } = await start(t);
    // A terminal sends it to the group, and npm to what it started.
    process.kill(-pid, signal);
    process.kill(pid, signal);
    t.strictSame(await closed, [3, null]);
    t.strictSame(new Set(lines().slice(1)), new Set([signal]));
  }
});

t.test('Ctrl-C ends the service where the shell of npm waits for it, too', async (t) => {
  const { pid, lines, closed } = await start(t, { shell: true });
  process.kill(-pid, 'SIGINT');
  await closed;
  t.strictSame(new Set(lines().slice(1)), new Set(['SIGINT']));
});

t.test('npm start that is killed ends the service, too', async (t) => {
  const { pid, lines } = await start(t);
  process.kill(pid, 'SIGKILL');
  await until('the end of its channel', () => lines().includes('disconnect'));
});

t.test('a SIGTERM that ends the shell of npm only ends the service, too', async (t) => {
  const { pid, lines } = await start(t, { shell: true });
  process.kill(pid, 'SIGTERM');
  await until('the signal', () => lines().includes('SIGTERM'));
});

t.test('without packages, npm start says what to do', async (t) => {
  const script = join(root, 'scripts/start.mjs');
  const stderr = 'The packages are not installed. Run: npm ci\n';
  await t.rejects(run(process.execPath, [script], { cwd: t.testdir({}) }), { code: 1, stdout: '', stderr });
});
