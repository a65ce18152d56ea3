import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { inspectConfig } from '../infrastructure/config/environment.ts';
import { generatePrivateKey, type PrivateKey } from '../infrastructure/config/private-keys.ts';
import { generateSecret, type Secret, secretPath, toSecrets } from '../infrastructure/config/secrets.ts';
import { addCommand, addGroup, CommandError, type Invocation } from './command.ts';

/** A secret or a private key, with its public id. */
interface Value {
  id: string;
  text: string;
}

/** The values after each step of a rotation, from those before it. */
const steps = {
  add: (values: Value[], next: Value) => [...values, next],
  switch: (values: Value[]) => [...values.slice(-1), ...values.slice(0, -1)],
  finish: (values: Value[]) => values.slice(0, 1),
};
type Inspected = ReturnType<typeof inspectConfig>;

/** What is rotated. */
type Rotation = ReturnType<typeof rotationOfSecrets>;

const algorithms = { es256: 'ES256', eddsa: 'EdDSA' } as const;

interface RotateOptions {
  step?: keyof typeof steps;
  leaked?: true;
  asymmetric?: true | keyof typeof algorithms;
}

/** `dure secrets`. */
export function addSecretCommands(program: Command, invocation: Invocation): void {
  const group = addGroup(program, 'secrets', 'The secrets that sign tokens');

  addCommand(group, 'rotate', {
    summary: 'print the next JWT_SECRET or JWT_PRIVATE_KEY and what to do with it',
    details: `Prints the values that it takes one after the other while a new secret replaces the current one. Changes nothing: you deploy each value. It reads the current JWT_SECRET from the environment, never from an argument.
With --asymmetric it does the same for JWT_PRIVATE_KEY, or the file of JWT_PRIVATE_KEY_FILE; where there is no key yet, it prints a first one.

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
      'dure secrets rotate --asymmetric eddsa --step add > jwt-private-key.new',
    ],
    exitCodes: ['4  the value is missing, weak or invalid, or not in the state that the step continues'],
  })
    .addOption(new Option('--step <name>', 'print the value of one step only').choices(Object.keys(steps)))
    .addOption(
      new Option(
        '--leaked',
        'print a new value alone, for one that leaked: every token of it is rejected',
      ).conflicts('step'),
    )
    .addOption(
      new Option(
        '--asymmetric [algorithm]',
        'rotate the private keys, to a new one of this algorithm (default: that of the current one, else es256)',
      ).choices(Object.keys(algorithms)),
    )
    .action((options: RotateOptions) => rotate(invocation, options));
}

/** @throws {CommandError} `no_secret`, `weak_secret`, `invalid_key`, `nothing_to_switch` */
async function rotate(invocation: Invocation, { step, leaked, asymmetric }: RotateOptions): Promise<void> {
  const { output, environment, isTerminal } = invocation;
  const { inspectConfig } = await import('../infrastructure/config/environment.ts');
  const { publicKeysMaxAge, undoDays } = await import('../domains/auth/index.ts');
  const inspected = inspectConfig(environment);
  const rotation = asymmetric
    ? rotationOfKeys(inspected, asymmetric, publicKeysMaxAge)
    : rotationOfSecrets(inspected, environment['JWT_SECRET'] ?? '', undoDays);
  const { noun, source, values, problem, notes, create } = rotation;
  if (problem && !leaked) throw new CommandError(...problem);
  // --leaked takes no step.
  if (step !== undefined && step !== 'add' && values.length < 2) {
    throw new CommandError(
      'nothing_to_switch',
      `${source} holds fewer than two ${noun}s: --step ${step} continues from the value of the step before`,
    );
  }
  const isAlone = leaked || values.length === 0;
  if (!isAlone && step === undefined) return printPlan(invocation, rotation);
  const next = isAlone || step === undefined ? [create()] : steps[step](values, create());
  if (isAlone) {
    output.note(`The new value of ${source}. Deploy it to all instances at once.`, ...notes.alone);
  } else {
    output.note(`${step}: from the ${noun}s ${idsOf(values)} to ${idsOf(next)}; the first one signs`);
  }
  const shown = describe(rotation, next);
  // Without a line feed in a pipe: it would become a part of the last secret where a store keeps it.
  if (!output.json && !isTerminal) output.raw(shown.value);
  else output.result({ step: leaked ? 'replace' : (step ?? 'add'), source, ...shown }, () => shown.value);
}

function rotationOfSecrets({ config, problems }: Inspected, given: string, undoDays: number) {
  const { secrets, tokens, email, production } = config;
  const path = secretPath(config.dataDirectory);
  const isFile = given === '' && !production;
  const source = isFile ? path : 'JWT_SECRET';
  const missing = isFile
    ? `JWT_SECRET is not set, and the service has not generated a secret in ${path} yet: there is nothing to rotate`
    : 'JWT_SECRET is not set: run the command with the environment of the service, or print a first secret with --leaked';
  const weak = `${source} is weak or a placeholder, so that it must not be kept beside a new one: use --leaked`;
  const isWeak = problems.some((one) => /^(JWT_SECRET|DATA_DIR) /.test(one));
  let problem: [code: string, message: string] | undefined = isWeak ? ['weak_secret', weak] : undefined;
  if (isFile ? !existsSync(path) : given === '') problem = ['no_secret', missing];
  return {
    noun: 'secret',
    /** The variable or the file of the values. */
    source,
    separator: ',',
    /** Those that are deployed; the first one signs. */
    values: secrets.map(secretValue),
    /** Why they cannot be kept beside a new one. */
    problem,
    create: () => secretValue(toSecrets(generateSecret())[0]),
    /** Seconds to wait before a step when all instances have the one before. */
    waits: {
      switch: 0,
      // Until the last thing that a secret signed or derived has expired, unsubscribe links excepted.
      finish: Math.max(
        tokens.accessTtl,
        Math.min(tokens.refreshTtl, tokens.sessionMaxAge),
        email.codeTtl,
        email.verificationTokenTtl,
        email.passwordResetTtl,
        undoDays * 86_400,
      ),
    },
    /** What to know about a value that replaces all others at once, and about the steps. */
    notes: {
      // Anybody who has the old secret can sign with it, so there is no time in which both are valid.
      alone: [
        'All users must log in again; codes and links in emails from before, unsubscribe links too, no longer work.',
        'With the old secret, codes and links could be computed, and any user be impersonated: see `dure users sessions`.',
      ],
      plan: [
        'With a single instance that is stopped before it starts again, begin with 2.',
        'What breaks with 3: unsubscribe links in emails from before 2, which never expire. Keep the old secret for longer if that matters;',
        'the count of failed logins starts again with 2. A user who used the service since 2 does not log in again.',
      ],
    },
  };
}

function rotationOfKeys(
  { texts, config, problems }: Inspected,
  algorithm: NonNullable<RotateOptions['asymmetric']>,
  publicKeysMaxAge: number,
): Rotation {
  const { privateKeys, publicUrl, tokens } = config;
  const problem = problems.find((text) => text.startsWith('JWT_PRIVATE_KEY'));
  const chosen = algorithm === true ? (privateKeys[0]?.algorithm ?? 'ES256') : algorithms[algorithm];
  return {
    noun: 'key',
    source: problem?.startsWith('JWT_PRIVATE_KEY_FILE')
      ? 'JWT_PRIVATE_KEY_FILE'
      : (texts['JWT_PRIVATE_KEY_FILE'] ?? 'JWT_PRIVATE_KEY'),
    separator: '',
    values: privateKeys.map(keyValue),
    problem: problem === undefined ? undefined : ['invalid_key', problem],
    create: () => keyValue(generatePrivateKey(chosen)),
    waits: { switch: publicKeysMaxAge, finish: tokens.accessTtl },
    notes: {
      alone: [
        'Instances with and without it reject the access tokens of each other, and all reject those of a key that is gone:',
        'the SDK refreshes them, other clients may ask for a login. No session ends.',
        `Other services keep the keys of ${publicUrl}/.well-known/jwks.json for ${durationOf(publicKeysMaxAge)}, an old one too.`,
      ],
      plan: ['Refresh tokens are signed with JWT_SECRET: no user logs in again.'],
    },
  };
}

function printPlan({ output }: Invocation, rotation: Rotation): void {
  const { noun, source, values, create, waits, notes } = rotation;
  const added = create();
  let current = values;
  const plan = Object.entries(steps).map(([step, change]) => {
    current = change(current, added);
    return { step, ...describe(rotation, current) };
  });
  output.note(
    `Three values of ${source}, one a line. Deploy each to all instances before the next:`,
    `  1  add     now. Every instance accepts the new ${noun}, none signs with it yet.`,
    `  2  switch  ${waits.switch > 0 ? `${durationOf(waits.switch)} after` : 'when'} all instances have 1. The new ${noun} signs; what the old one signed stays valid.`,
    `  3  finish  ${durationOf(waits.finish)} after all instances have 2: what the old ${noun} signed has expired by then.`,
    ...notes.plan,
    `Ids, as in the header of tokens (kid): now ${idsOf(values)}, new ${added.id}`,
  );
  const document = { source, wait_seconds: waits.finish, switch_wait_seconds: waits.switch, steps: plan };
  output.result(document, () => plan.map(({ value }) => value).join('\n'));
}

function describe({ separator }: Rotation, values: Value[]) {
  return { value: values.map(({ text }) => text).join(separator), key_ids: values.map(({ id }) => id) };
}

/** A time in words, rounded up. */
function durationOf(seconds: number): string {
  const [unit, name] = seconds < 86_400 ? [60, 'minute'] : [86_400, 'day'];
  const count = Math.ceil(seconds / unit);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

const secretValue = ({ id, key }: Secret): Value => ({ id, text: String(key) });

/** With escaped line feeds, so that it is one line; the service reads both. */
const keyValue = ({ id, pem }: PrivateKey): Value => ({ id, text: pem.replaceAll('\n', '\\n') });

const idsOf = (values: readonly Value[]) => values.map(({ id }) => id).join(', ');
