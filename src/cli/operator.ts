import { hostname, userInfo } from 'node:os';
import { pino } from 'pino';
import { commandOperator, type Operator } from '../admin/operator.ts';
import type { Invocation } from './invocation.ts';

/**
 * The person who runs the command, as audit entries name them.
 *
 * @param options.operator of `--operator`
 */
export function createOperator(
  { log: destination }: Pick<Invocation, 'log'>,
  { operator: name }: { operator?: string },
): Operator {
  const log = pino({ level: 'info' }, destination);
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
