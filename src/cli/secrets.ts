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

/** What is rotated. */
interface Rotation {
  /** The variable or the file of the values. */
  source: string;
  separator: string;
  /** Those that are deployed; the first one signs. */
  values: Value[];
  /** Why they cannot be kept beside a new one. */
  problem: [code: string, message: string] | undefined;
  create(): Value;
  /** Seconds to wait before a step when all instances have the one before. */
  waits: { switch: number; finish: number };
}

/** The values after each step, from those before it. */
const steps = {
  add: (values: Value[], next: Value) => [...values, next],
  switch: (values: Value[]) => [...values.slice(-1), ...values.slice(0, -1)],
  finish: (values: Value[]) => values.slice(0, 1),
};

type Inspected = ReturnType<typeof inspectConfig>;

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
    details: `Prints the values that it takes one after the other while a new secret replaces the current one. Changes nothing: you deploy each value to all instances, see docs/operations/command.md. It reads the current value from the environment, never from an argument.

  1  add     the new secret last: every instance accepts it, none uses it yet
  2  switch  the new secret first: it signs, and the old one still verifies
  3  finish  the new secret alone, once everything that the old one signed has expired

Without --step it prints all three values, one a line. With --step it prints one, without a line feed where standard output is no terminal, for a secret store; switch and finish continue from the value that is deployed.`,
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
  const { inspectConfig } = await import('../infrastructure/config/environment.ts');
  const { publicKeysMaxAge, undoDays } = await import('../domains/auth/index.ts');
  const inspected = inspectConfig(invocation.environment);
  const rotation = asymmetric
    ? rotationOfKeys(inspected, asymmetric, publicKeysMaxAge)
    : rotationOfSecrets(inspected, invocation.environment['JWT_SECRET'] ?? '', undoDays);
  const { source, values, problem, create } = rotation;
  if (leaked) return printValue(invocation, 'replace', rotation, [create()]);
  if (problem) throw new CommandError(...problem);
  if (step !== undefined && step !== 'add' && values.length < 2) {
    const rule = `--step ${step} continues from the value of the step before`;
    throw new CommandError('nothing_to_switch', `${source} holds fewer than two values: ${rule}`);
  }
  if (step === undefined && values.length > 0) return printPlan(invocation, rotation);
  const name = step ?? 'add';
  printValue(invocation, name, rotation, steps[name](values, create()));
}

function rotationOfSecrets({ config }: Inspected, given: string, undoDays: number): Rotation {
  const { secrets, tokens, email, production, dataDirectory } = config;
  const path = keys.secretPath(dataDirectory);
  const isFile = given === '' && !production;
  const source = isFile ? path : 'JWT_SECRET';
  // Without a usable one the configuration has one that is empty.
  const values = secrets.filter(({ key }) => key.length > 0).map(secretValue);
  const missing = `there is no secret in ${source}: run the command with the environment of the service, or print a first one with --leaked`;
  const weak = `${source} is weak or a placeholder, so that it must not be kept beside a new one: use --leaked`;
  const isThere = isFile ? existsSync(path) : given !== '';
  let problem: Rotation['problem'];
  if (!isThere) problem = ['no_secret', missing];
  else if (values.length === 0) problem = ['weak_secret', weak];
  // Until the last thing that a secret signed or derived has expired, unsubscribe links excepted.
  const finish = Math.max(
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
    waits: { switch: 0, finish },
  };
}

function rotationOfKeys(
  { texts, config, problems }: Inspected,
  algorithm: NonNullable<RotateOptions['asymmetric']>,
  publicKeysMaxAge: number,
): Rotation {
  const { privateKeys, tokens } = config;
  const problem = problems.find((text) => text.startsWith('JWT_PRIVATE_KEY'));
  const chosen = algorithm === true ? (privateKeys[0]?.algorithm ?? 'ES256') : algorithms[algorithm];
  return {
    // A problem begins with the name of its variable.
    source: problem?.split(' ', 1)[0] ?? texts['JWT_PRIVATE_KEY_FILE'] ?? 'JWT_PRIVATE_KEY',
    separator: '',
    values: privateKeys.map(keyValue),
    problem: problem === undefined ? undefined : ['invalid_key', problem],
    create: () => keyValue(keys.generatePrivateKey(chosen)),
    waits: { switch: publicKeysMaxAge, finish: tokens.accessTtl },
  };
}

/** Prints one value, in a pipe without a line feed, which would become a part of the last secret where a store keeps it. */
function printValue(
  { output, isTerminal }: Invocation,
  step: string,
  rotation: Rotation,
  values: Value[],
): void {
  const { source } = rotation;
  const shown = describe(rotation, values);
  output.note(`${step}: ${source} with the ids ${shown.key_ids.join(', ')}; the first one signs.`);
  if (values.length === 1 && step !== 'finish')
    output.note('Deploy it to all instances at once: one without it rejects what it signs.');
  if (!output.json && !isTerminal) output.raw(shown.value);
  else output.result({ step, source, ...shown }, () => shown.value);
}

function printPlan({ output }: Invocation, rotation: Rotation): void {
  const { source, values, create, waits } = rotation;
  const added = create();
  let current = values;
  const plan = Object.entries(steps).map(([step, change]) => {
    current = change(current, added);
    return { step, ...describe(rotation, current) };
  });
  output.note(
    `Three values of ${source}, one a line. Deploy each to all instances before the next:`,
    '  1  add     now',
    `  2  switch  ${waits.switch > 0 ? `${durationOf(waits.switch)} after` : 'when'} all instances have 1`,
    `  3  finish  ${durationOf(waits.finish)} after all instances have 2`,
    `The new id (kid in the header of tokens) is ${added.id}.`,
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

const secretValue = ({ id, key }: keys.Secret): Value => ({ id, text: String(key) });

/** With escaped line feeds, so that it is one line; the service reads both. */
const keyValue = ({ id, pem }: keys.PrivateKey): Value => ({ id, text: pem.replaceAll('\n', '\\n') });
