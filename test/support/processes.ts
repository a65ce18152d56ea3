import { type ExecFileOptionsWithStringEncoding, execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { compileCache, root } from './files.ts';

// The hooks of tap are for tests only.
const { NODE_OPTIONS: _, ...environment } = process.env;

/** Runs a program to its end, in the repository unless told otherwise. @throws when it fails, with its `code` and what it printed */
export function run(
  program: string,
  args: readonly string[],
  options: Partial<ExecFileOptionsWithStringEncoding> = {},
) {
  return promisify(execFile)(program, args, { cwd: root, env: environment, ...options, encoding: 'utf8' });
}

/** What a process of the service has besides its variables. */
export const minimalEnvironment = { PATH: environment.PATH ?? '', NODE_COMPILE_CACHE: compileCache };

/** Runs a script of the repository to its end, as an operator does, with these variables and no others. */
export async function runScript(
  script: string,
  args: readonly string[],
  variables: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const ended = run(process.execPath, [script, ...args], { env: { ...minimalEnvironment, ...variables } });
  return ended.then(
    (output) => ({ code: 0, ...output }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}
