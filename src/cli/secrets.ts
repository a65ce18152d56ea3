import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { inspectConfig } from '../infrastructure/config/environment.ts';
import * as keys from '../infrastructure/config/keys.ts';
import { addCommand, addGroup, CommandError, type Invocation } from './command.ts';

/** A secret or a private key, with its public id. */
interface Value {
  id: string;
  text: string;
}

/** The values after each step, from those before it. */
const steps = {
  add: (values: Value[], create: () => Value) => [...values, create()],
  switch: (values: Value[]) => [...values.slice(-1), ...values.slice(0, -1)],
  finish: (values: Value[]) => values.slice(0, 1),
  replace: (_values: Value[], create: () => Value) => [create()],
};
type Step = keyof typeof steps;

type Inspected = ReturnType<typeof inspectConfig>;

const algorithms = { es256: 'ES256', eddsa: 'EdDSA' } as const;

interface RotateOptions {
  step: Step;
  asymmetric?: true | keyof typeof algorithms;
}

/** `dure secrets`. */
export function addSecretCommands(program: Command, invocation: Invocation): void {
  const group = addGroup(program, 'secrets', 'The secrets that sign tokens');

  addCommand(group, 'rotate', {
    summary: 'print the next JWT_SECRET or JWT_PRIVATE_KEY and what to do with it',
    details: `A new secret replaces the current one in three steps. Each prints the next value of the variable, and on standard error what comes after it. Changes nothing: you deploy the value to all instances, see docs/operations/command.md. It reads the current value from the environment, never from an argument.

  add      the new secret last: every instance accepts it, none uses it yet
  switch   the new secret first: it signs, and the old one still verifies
  finish   the new secret alone, once everything that the old one signed has expired
  replace  a new secret alone, for one that leaked: every token of the old one is rejected`,
    examples: [
      'dure secrets rotate --step add > jwt-secret.new',
      'dure secrets rotate --step switch --json',
      'dure secrets rotate --step replace',
      'dure secrets rotate --asymmetric eddsa --step add > jwt-private-key.new',
    ],
    exitCodes: ['4  the value is missing, weak or invalid, or not in the state that the step continues'],
  })
    .addOption(
      new Option('--step <name>', 'whose value to print').choices(Object.keys(steps)).makeOptionMandatory(),
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
async function rotate({ environment, output }: Invocation, options: RotateOptions): Promise<void> {
  const { step, asymmetric } = options;
  const { inspectConfig } = await import('../infrastructure/config/environment.ts');
  const { publicKeysMaxAge, undoDays } = await import('../domains/auth/index.ts');
  const inspected = inspectConfig(environment);
  const rotation = asymmetric
    ? rotationOfKeys(inspected, asymmetric, publicKeysMaxAge)
    : rotationOfSecrets(inspected, environment['JWT_SECRET'] ?? '', undoDays);
  const { source, separator, values, problem, create } = rotation;
  /** Seconds to wait after a step, when all instances have its value, before the next one. */
  const waits: Partial<Record<Step, number>> = rotation.waits;
  if (problem && step !== 'replace') throw new CommandError(...problem);
  if ((step === 'switch' || step === 'finish') && values.length < 2) {
    const rule = `--step ${step} continues from the value of the step before`;
    throw new CommandError('nothing_to_switch', `${source} holds fewer than two values: ${rule}`);
  }
  const next = steps[step](values, create);
  const key_ids = next.map(({ id }) => id);
  const value = next.map(({ text }) => text).join(separator);
  const wait_seconds = waits[step] ?? 0;
  output.note(`${step}: ${source} with the ids ${key_ids.join(', ')}; the first one signs.`);
  output.note(whatFollows(step, next.length, wait_seconds));
  output.result({ step, source, wait_seconds, value, key_ids }, () => value);
}

function rotationOfSecrets({ config }: Inspected, given: string, undoDays: number) {
  const { secrets, tokens, email, production, dataDirectory } = config;
  const path = keys.secretPath(dataDirectory);
  const isFile = given === '' && !production;
  const source = isFile ? path : 'JWT_SECRET';
  // Without a usable one the configuration has one that is empty.
  const values = secrets.filter(({ key }) => key.length > 0).map(secretValue);
  const missing = `there is no secret in ${source}: run the command with the environment of the service, or print a first one with --step replace`;
  const weak = `${source} is weak or a placeholder, so that it must not be kept beside a new one: use --step replace`;
  const isThere = isFile ? existsSync(path) : given !== '';
  let problem: readonly [code: string, message: string] | undefined;
  if (!isThere) problem = ['no_secret', missing];
  else if (values.length === 0) problem = ['weak_secret', weak];
  // Until the last thing that a secret signed or derived has expired, unsubscribe links excepted.
  const lifetime = Math.max(
    tokens.accessTtl,
    Math.min(tokens.refreshTtl, tokens.sessionMaxAge),
    email.codeTtl,
    email.verificationTokenTtl,
    email.passwordResetTtl,
    undoDays * 86_400,
  );
  return {
    source,
    separator: ',',
    values,
    problem,
    create: () => secretValue(keys.toSecrets(keys.generateSecret())[0]),
    waits: { switch: lifetime },
  };
}

function rotationOfKeys(
  { texts, config, problems }: Inspected,
  algorithm: NonNullable<RotateOptions['asymmetric']>,
  publicKeysMaxAge: number,
) {
  const { privateKeys, tokens } = config;
  const problem = problems.find((text) => text.startsWith('JWT_PRIVATE_KEY'));
  const chosen = algorithm === true ? (privateKeys[0]?.algorithm ?? 'ES256') : algorithms[algorithm];
  return {
    // A problem begins with the name of its variable.
    source: problem?.split(' ', 1)[0] ?? texts['JWT_PRIVATE_KEY_FILE'] ?? 'JWT_PRIVATE_KEY',
    separator: '',
    values: privateKeys.map(keyValue),
    problem: problem === undefined ? undefined : (['invalid_key', problem] as const),
    create: () => keyValue(keys.generatePrivateKey(chosen)),
    waits: { add: publicKeysMaxAge, switch: tokens.accessTtl },
  };
}

/** What an operator does with the value of a step. */
function whatFollows(step: Step, count: number, wait: number): string {
  if (step === 'finish') return 'Deploy it to all instances.';
  if (count === 1) return 'Deploy it to all instances at once: one without it rejects what it signs.';
  const next = step === 'add' ? 'switch' : 'finish';
  const pause = wait > 0 ? `wait ${durationOf(wait)}, ` : '';
  return `Deploy it to all instances, ${pause}then continue with --step ${next}.`;
}

/** A time in words, rounded up. */
function durationOf(seconds: number): string {
  const [unit, name] = seconds < 86_400 ? [60, 'minute'] : [86_400, 'day'];
  const count = Math.ceil(seconds / unit);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

const secretValue = ({ id, key }: keys.Secret): Value => ({ id, text: String(key) });

/** With escaped line feeds, so that it is one line; the service reads both. */
const keyValue = ({ id, pem }: keys.PrivateKey): Value => ({ id, text: pem.replaceAll('\n', '\\n') });
