import { hostname, userInfo } from 'node:os';
import { pino } from 'pino';
import { commandOperator, type Operator } from '../admin/operator.ts';

/**
 * The person who runs the command, as audit entries name them. Audit lines go to standard error.
 *
 * @param name of `--operator`
 */
export function createOperator(name: string | undefined): Operator {
  const log = pino({ level: 'info' }, pino.destination({ fd: 2, sync: true }));
  return commandOperator(name ?? `${systemUser()}@${hostname()}`, log);
}

/** A container may run under an id that has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
