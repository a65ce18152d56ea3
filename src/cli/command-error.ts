/** What the command tells the shell. */
export const exitCodes = {
  done: 0,
  /** The database is not reachable, or something unexpected. */
  failed: 1,
  /** Wrong arguments. */
  usage: 2,
  notFound: 3,
  /** By a rule: nothing to unlock, an invalid configuration. */
  refused: 4,
} as const;

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure that an operator can act on: one line and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** Stable, for programs. */
  readonly code: string;
  readonly exitCode: ExitCode;

  constructor(code: string, message: string, exitCode: ExitCode = exitCodes.refused) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}
