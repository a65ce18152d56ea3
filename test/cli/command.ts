import type { Test } from 'tap';
import { createOutput } from '../../src/cli/command.ts';
import { runProgram } from '../../src/cli/program.ts';
import { type TestApp, testEnvironment } from '../support/app.ts';
import type { Json } from '../support/json.ts';
import { atMost } from '../support/time.ts';

/** What a command left. */
interface Run {
  code: number;
  stdout: string;
  stderr: string;
  /** The lines that went to the log. */
  log: { [field: string]: unknown }[];
  /** The JSON document of standard output, or of standard error after a failure. */
  document: Json;
}

/** Runs the command in this process, with `--json`. */
export async function dure(environment: Record<string, string>, ...args: string[]): Promise<Run> {
  const run = await dureText(environment, ...args, '--json');
  return { ...run, document: JSON.parse(run.stdout || run.stderr) };
}

/** Runs the command in this process, as a person who is at no terminal. */
export async function dureText(environment: Record<string, string>, ...args: string[]): Promise<Run> {
  const [stdout, stderr, log]: [string[], string[], string[]] = [[], [], []];
  const sinkOf = (lines: string[]) => ({ write: (text: string) => lines.push(text) });
  const code = await runProgram(args, {
    environment,
    output: createOutput({ json: args.includes('--json'), stdout: sinkOf(stdout), stderr: sinkOf(stderr) }),
    log: sinkOf(log),
    isInteractive: false,
  });
  return {
    code,
    stdout: stdout.join(''),
    stderr: stderr.join(''),
    log: log.map((line) => JSON.parse(line)),
    document: null,
  };
}

/** Runs commands on the database of an app, with the limits of a busy machine: the driver takes those of the URL. */
export function commandsOn({ url }: Pick<TestApp, 'url'>) {
  const limited = new URL(url);
  for (const [name, limit] of Object.entries({ lock: 3_000, statement: 5_000, query: 6_000 }))
    limited.searchParams.set(`${name}_timeout`, String(atMost(limit)));
  const environment = { ...testEnvironment, DATABASE_URL: limited.href };
  return (...args: string[]) => dure(environment, ...args);
}

/** Asserts that a command failed with an exit code and the code of an error. */
export function failed(t: Test, { code, document }: Run, exitCode: number, error: string, message = /./) {
  t.match({ code, document }, { code: exitCode, document: { error: { code: error, message } } });
}
