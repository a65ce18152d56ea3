import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { compileCache, root } from '../../support/files.ts';

/** Runs a script of the repository to its end, as an operator does, with these variables and no others. */
export async function runProcess(
  script: string,
  args: readonly string[],
  environment: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [script, ...args], {
    cwd: root,
    env: { PATH, NODE_COMPILE_CACHE: compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  const [code] = await once(child, 'close');
  return { code, ...output };
}
