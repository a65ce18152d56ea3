import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { root } from './files.ts';
import { minimalEnvironment } from './processes.ts';
import { until } from './until.ts';

/** What production requires, without the database. */
export const production = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  JWT_SECRET: 'only-tests-sign-with-these-40-characters',
  RESEND_API_KEY: 're_dK3vQ8wZ_unused',
  RESEND_BASE_URL: 'http://127.0.0.1:9',
  MAIL_FROM: 'Dure <no-reply@example.com>',
  FRONTEND_URL: 'https://app.example.com',
  PUBLIC_URL: 'https://api.example.com',
};

/** The service never rejects a request as overloaded, because the machine may pause. */
const options = ['--import', fileURLToPath(import.meta.resolve('./no-overload.js'))];

/** The service in its own process, as an operator runs it. */
export type Service = Awaited<ReturnType<typeof startService>>;

/**
 * Starts the process without waiting for it to listen.
 *
 * @param script what Node runs: by default the compiled service
 */
export function spawnService(
  environment: Record<string, string>,
  script = ['build/src/server.js'],
  stdout: 'pipe' | number = 'pipe',
) {
  const child = spawn(process.execPath, [...options, ...script], {
    cwd: root,
    env: { ...minimalEnvironment, PORT: '0', ARGON2_MEMORY_KIB: '1024', ...environment },
    stdio: ['ignore', stdout, 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  type Ended = { code: number | null; signal: NodeJS.Signals | null };
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal }));
  return {
    child,
    /** Everything it printed so far. */
    output: () => output,
    /** Sends a signal and waits for the end. @returns exit code and signal */
    async end(signal: NodeJS.Signals = 'SIGTERM') {
      if (child.exitCode === null) child.kill(signal);
      return ended;
    },
  };
}

/** Starts the process and waits until it is ready. @throws with its output when it is not in time */
export async function startService(environment: Record<string, string>, script?: string[]) {
  const service = spawnService(environment, script);
  try {
    const url = await until('a listening service', () => {
      if (service.child.exitCode !== null) throw new Error(`exit code ${service.child.exitCode}`);
      return /Server listening at (http:\/\/[\w.:]+)/.exec(service.output())?.[1];
    });
    return { ...service, url };
  } catch (error) {
    await service.end('SIGKILL');
    throw new Error(`the service did not start:\n${service.output()}`, { cause: error });
  }
}

/** A JSON request over a real connection. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Like {@link post}; sends again what a slow machine answers with 503, under one key, so that it is done once. */
export async function insist(url: string, body: unknown, headers: Record<string, string> = {}) {
  const key = randomUUID();
  return until(`a response other than 503 of ${url}`, async () => {
    const response = await post(url, body, { 'idempotency-key': key, ...headers });
    return response.status === 503 ? undefined : response;
  });
}
