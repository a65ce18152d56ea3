import { type Command, Option } from 'commander';
import { group, leaf } from './command.ts';
import type { Invocation } from './invocation.ts';

/** `dure secrets`. */
export function addSecretCommands(program: Command, invocation: Invocation): void {
  const secrets = group(program, 'secrets', 'The secrets that sign tokens');

  leaf(secrets, 'rotate', {
    summary: 'print the next JWT_SECRET and what to do with it',
    description: `Prints the values that JWT_SECRET takes one after the other while a new secret replaces the present one. Changes nothing: you deploy each value. It reads the present JWT_SECRET from the environment, never from an argument.

  1  add     the new secret last: every instance accepts it, none uses it yet
  2  switch  the new secret first: it signs, and the old one still verifies
  3  finish  the new secret alone, once everything that the old one signed has expired

Each step must have reached all instances before the next one begins: an instance refuses tokens that a secret signed which it does not have.

Without --step it prints all three values, one a line, and explains them on standard error. With --step it prints one value, without a line feed where standard output is no terminal, for a secret store; switch and finish continue from the JWT_SECRET of the environment, so run each with the value that is deployed.`,
    examples: [
      'dure secrets rotate',
      'dure secrets rotate --json',
      'dure secrets rotate --step add > /run/secrets/jwt-secret',
      'dure secrets rotate --leaked',
    ],
    exitCodes: ['4  JWT_SECRET is not set or weak, or is not in the state that the step continues'],
  })
    .addOption(
      new Option('--step <name>', 'print the value of one step only').choices(['add', 'switch', 'finish']),
    )
    .addOption(
      new Option(
        '--leaked',
        'print a new secret alone, for one that leaked: every session ends, and all users log in again',
      ).conflicts('step'),
    )
    .action(async (options: { step?: 'add' | 'switch' | 'finish'; leaked?: true }) => {
      const { rotateSecrets } = await import('./secrets/rotate.ts');
      rotateSecrets(invocation, options);
    });
}
