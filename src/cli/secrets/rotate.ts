import { randomBytes } from 'node:crypto';
import { undoDays } from '../../auth/repository/email-changes.ts';
import { type Config, inspectConfig } from '../../config/config.ts';
import { secretPath, toSecret } from '../../config/secrets.ts';
import { CommandError } from '../command-error.ts';
import type { Invocation } from '../invocation.ts';
import { type PresentSecrets, readPresentSecrets } from './present.ts';

type StepName = 'add' | 'switch' | 'finish';

/** `dure secrets rotate`. @throws {CommandError} `no_secret`, `weak_secret`, `nothing_to_switch` */
export function rotateSecrets(invocation: Invocation, options: { step?: StepName; leaked?: true }): void {
  if (options.leaked) {
    replaceLeaked(invocation);
    return;
  }
  const present = readPresentSecrets(invocation.environment);
  if (options.step) printStep(invocation, present, options.step);
  else printPlan(invocation, present);
}

function printPlan({ output }: Invocation, { secrets, source, config }: PresentSecrets): void {
  const next = createSecret();
  const steps = [
    { step: 'add', secrets: [...secrets, next] },
    { step: 'switch', secrets: [next, ...secrets] },
    { step: 'finish', secrets: [next] },
  ];
  const wait = longestUse(config);
  const lines = [
    `Three values of ${source}, one a line. Deploy each to all instances before the next:`,
    '  1  add     now. Every instance accepts the new secret, none signs with it yet.',
    '  2  switch  when all instances have 1. The new secret signs; what the old one signed stays valid.',
    `  3  finish  ${inDays(wait)} after all instances have 2: tokens, codes and links of the old secret have expired by then.`,
    'With a single instance that is stopped before it starts again, begin with 2.',
    'What breaks with 3: unsubscribe links in mails from before 2, which never expire. Keep the old secret for longer if that matters;',
    'the count of failed logins begins anew with 2. A user who used the service since 2 does not log in again.',
    `Ids, as in the header of tokens (kid): now ${idsOf(secrets)}, new ${idsOf([next])}`,
  ];
  for (const line of lines) output.note(line);
  output.result(
    {
      source,
      wait_seconds: wait,
      steps: steps.map((one) => ({
        step: one.step,
        value: one.secrets.join(','),
        key_ids: one.secrets.map(idOf),
      })),
    },
    () => steps.map((one) => one.secrets.join(',')).join('\n'),
  );
}

function printStep(invocation: Invocation, { secrets, source }: PresentSecrets, step: StepName): void {
  const [first = '', ...others] = secrets;
  const last = others.at(-1);
  if (step !== 'add' && last === undefined) {
    throw new CommandError(
      'nothing_to_switch',
      `${source} holds one secret: --step ${step} continues from the value of the step before`,
    );
  }
  const values = {
    add: [...secrets, createSecret()],
    switch: [last ?? '', first, ...others.slice(0, -1)],
    finish: [first],
  }[step];
  invocation.output.note(
    `${step}: from the secrets ${idsOf(secrets)} to ${idsOf(values)}; the first one signs`,
  );
  printValue(invocation, { step, source, secrets: values });
}

/** Anybody who has the old secret can sign with it, so there is no time in which both are valid. */
function replaceLeaked(invocation: Invocation): void {
  const { config, environment } = inspectConfig(invocation.environment);
  const isFile = environment.JWT_SECRET === undefined && !config.production;
  const source = isFile ? secretPath(config.dataDirectory) : 'JWT_SECRET';
  const lines = [
    `The new value of ${source}. Deploy it to all instances at once.`,
    'All users must log in again; codes and links in mails from before, unsubscribe links too, no longer work.',
    'With the old secret, codes and links could be computed, and any user be impersonated: see `dure users sessions`.',
  ];
  for (const line of lines) invocation.output.note(line);
  printValue(invocation, { step: 'replace', source, secrets: [createSecret()] });
}

/** Without a line feed in a pipe: it would become a part of the last secret where a store keeps it. */
function printValue(
  { output, isTerminal }: Invocation,
  { step, source, secrets }: { step: string; source: string; secrets: readonly string[] },
): void {
  const value = secrets.join(',');
  if (output.json || isTerminal) {
    output.result({ step, source, value, key_ids: secrets.map(idOf) }, () => value);
  } else {
    output.raw(value);
  }
}

/** Seconds until the last thing that a secret signed or derived has expired, unsubscribe links excepted. */
function longestUse({ tokens, email }: Config): number {
  return Math.max(
    tokens.accessTtl,
    Math.min(tokens.refreshTtl, tokens.sessionMaxAge),
    email.codeTtl,
    email.verificationTokenTtl,
    email.passwordResetTtl,
    undoDays * 86_400,
  );
}

function createSecret(): string {
  return randomBytes(48).toString('base64url');
}

function idOf(secret: string): string {
  return toSecret(Buffer.from(secret)).id;
}

function idsOf(secrets: readonly string[]): string {
  return secrets.map(idOf).join(', ');
}

function inDays(seconds: number): string {
  const days = Math.ceil(seconds / 86_400);
  return days === 1 ? '1 day' : `${days} days`;
}
