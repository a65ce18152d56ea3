import { type ChildProcess, spawn } from 'node:child_process';
import type { Test } from 'tap';

/** Starts Redis, which ends with the test. */
export async function startRedis(t: Test, port: number): Promise<ChildProcess> {
  const redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '']);
  t.teardown(() => redis.kill('SIGKILL'));
  for await (const line of redis.stdout) if (String(line).includes('Ready to accept connections')) break;
  return redis;
}
