import { existsSync, readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { Config } from '../infrastructure/config/config.ts';
import { generateSecret, secretPath, toSecret } from '../infrastructure/config/secrets.ts';
import { addCommand, addGroup, CommandError, type Invocation } from './command.ts';
import type { Output } from './output.ts';

/** The secrets after each step of a rotation, from those before it. */
const steps = {
  add: (secrets: string[]) => [...secrets, generateSecret()],
  switch: (secrets: string[]) => [...secrets.slice(-1), ...secrets.slice(0, -1)],
  finish: (secrets: string[]) => secrets.slice(0, 1),
};
type StepName = keyof typeof steps;

interface RotateOptions {
  step?: StepName;
  leaked?: true;
}

/** `dure secrets`. */
export function addSecretCommands(program: Command, invocation: Invocation): void {
  const group = addGroup(program, 'secrets', 'The secrets that sign tokens');

  addCommand(group, 'rotate', {
    summary: 'print the next JWT_SECRET and what to do with it',
    description: `Prints the values that JWT_SECRET takes one after the other while a new secret replaces the current one. Changes nothing: you deploy each value. It reads the current JWT_SECRET from the environment, never from an argument.

  1  add     the new secret last: every instance accepts it, none uses it yet
  2  switch  the new secret first: it signs, and the old one still verifies
  3  finish  the new secret alone, once everything that the old one signed has expired

Each step must have reached all instances before the next one begins: an instance rejects tokens that a secret signed which it does not have.

Without --step it prints all three values, one a line, and explains them on standard error. With --step it prints one value, without a line feed where standard output is no terminal, for a secret store; switch and finish continue from the JWT_SECRET of the environment, so run each with the value that is deployed.`,
    examples: [
      'dure secrets rotate',
      'dure secrets rotate --json',
      'dure secrets rotate --step add > /run/secrets/jwt-secret',
      'dure secrets rotate --leaked',
    ],
    exitCodes: ['4  JWT_SECRET is not set or weak, or is not in the state that the step continues'],
  })
    .addOption(new Option('--step <name>', 'print the value of one step only').choices(Object.keys(steps)))
    .addOption(
      new Option(
        '--leaked',
        'print a new secret alone, for one that leaked: every session ends, and all users log in again',
      ).conflicts('step'),
    )
    .action((options: RotateOptions) => rotateSecrets(invocation, options));
}

/** @throws {CommandError} `no_secret`, `weak_secret`, `nothing_to_switch` */
async function rotateSecrets(invocation: Invocation, { step, leaked }: RotateOptions): Promise<void> {
  const { output } = invocation;
  const { inspectConfig } = await import('../infrastructure/config/config.ts');
  const { environment, config, problems } = inspectConfig(invocation.environment);
  const path = secretPath(config.dataDirectory);
  const isFile = environment.JWT_SECRET === undefined && !config.production;
  const source = isFile ? path : 'JWT_SECRET';
  if (leaked) {
    // Anybody who has the old secret can sign with it, so there is no time in which both are valid.
    output.note(
      `The new value of ${source}. Deploy it to all instances at once.`,
      'All users must log in again; codes and links in emails from before, unsubscribe links too, no longer work.',
      'With the old secret, codes and links could be computed, and any user be impersonated: see `dure users sessions`.',
    );
    printValue(invocation, source, [generateSecret()], 'replace');
    return;
  }
  const stored = isFile && existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
  const text = stored ?? environment.JWT_SECRET ?? '';
  if (text === '') {
    throw new CommandError(
      'no_secret',
      isFile
        ? `JWT_SECRET is not set, and the service has not generated a secret in ${path} yet: there is nothing to rotate`
        : 'JWT_SECRET is not set: run the command with the environment of the service, or print a first secret with --leaked',
    );
  }
  if (problems.some((problem) => problem.startsWith('JWT_SECRET') || problem.startsWith(path))) {
    throw new CommandError(
      'weak_secret',
      `${source} is weak or a placeholder, so that it must not be kept beside a new one: use --leaked`,
    );
  }
  const secrets = text.split(',');
  if (step === undefined) {
    printPlan(output, source, secrets, await longestUse(config));
    return;
  }
  if (step !== 'add' && secrets.length < 2) {
    throw new CommandError(
      'nothing_to_switch',
      `${source} holds one secret: --step ${step} continues from the value of the step before`,
    );
  }
  const values = steps[step](secrets);
  output.note(`${step}: from the secrets ${idsOf(secrets)} to ${idsOf(values)}; the first one signs`);
  printValue(invocation, source, values, step);
}

/** @param wait seconds between the last two steps */
function printPlan(output: Output, source: string, secrets: string[], wait: number): void {
  const added = steps.add(secrets);
  const switched = steps.switch(added);
  const values = { add: added, switch: switched, finish: steps.finish(switched) };
  const plan = Object.entries(values).map(([step, values]) => {
    return { step, value: values.join(','), key_ids: values.map(idOf) };
  });
  const days = Math.ceil(wait / 86_400);
  output.note(
    `Three values of ${source}, one a line. Deploy each to all instances before the next:`,
    '  1  add     now. Every instance accepts the new secret, none signs with it yet.',
    '  2  switch  when all instances have 1. The new secret signs; what the old one signed stays valid.',
    `  3  finish  ${days} day${days === 1 ? '' : 's'} after all instances have 2: tokens, codes and links of the old secret have expired by then.`,
    'With a single instance that is stopped before it starts again, begin with 2.',
    'What breaks with 3: unsubscribe links in emails from before 2, which never expire. Keep the old secret for longer if that matters;',
    'the count of failed logins starts again with 2. A user who used the service since 2 does not log in again.',
    `Ids, as in the header of tokens (kid): now ${idsOf(secrets)}, new ${idsOf(values.finish)}`,
  );
  output.result({ source, wait_seconds: wait, steps: plan }, () => plan.map(({ value }) => value).join('\n'));
}

/** Without a line feed in a pipe: it would become a part of the last secret where a store keeps it. */
function printValue(
  { output, isTerminal }: Invocation,
  source: string,
  secrets: readonly string[],
  step: string,
): void {
  const value = secrets.join(',');
  if (!output.json && !isTerminal) output.raw(value);
  else output.result({ step, source, value, key_ids: secrets.map(idOf) }, () => value);
}

/** Seconds until the last thing that a secret signed or derived has expired, unsubscribe links excepted. */
async function longestUse({ tokens, email }: Config): Promise<number> {
  const { undoDays } = await import('../domains/auth/index.ts');
  return Math.max(
    tokens.accessTtl,
    Math.min(tokens.refreshTtl, tokens.sessionMaxAge),
    email.codeTtl,
    email.verificationTokenTtl,
    email.passwordResetTtl,
    undoDays * 86_400,
  );
}

function idOf(secret: string): string {
  return toSecret(Buffer.from(secret)).id;
}

function idsOf(secrets: readonly string[]): string {
  return secrets.map(idOf).join(', ');
}
