import type { Output } from './output.ts';

/** What a command knows of the process that runs it. */
export interface Invocation {
  environment: NodeJS.ProcessEnv;
  output: Output;
  /** Gets the audit lines, and warnings. */
  log: { write(line: string): unknown };
  /** Whether a person is at a terminal, who can be asked. */
  isInteractive: boolean;
  /** Whether standard output is a terminal. */
  isTerminal: boolean;
}
