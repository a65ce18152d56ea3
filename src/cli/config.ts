import type { Command } from 'commander';
import type { Config } from '../infrastructure/config/config.ts';
import { textsOf } from '../infrastructure/config/readers.ts';
import { addCommand, addGroup, CommandError, type Invocation } from './command.ts';

/** `dure config`. */
export function addConfigCommands(program: Command, invocation: Invocation): void {
  const config = addGroup(program, 'config', 'The configuration of the service');

  addCommand(config, 'check', {
    summary: 'validate the environment variables',
    details: `It reads them as the service does at its start, and prints
  problem  stops the start of the service
  warning  weak, or still the value of an example
  note     what is switched off, and the ids of secrets and private keys
Never prints a password, key or secret. Run it where the service runs, with NODE_ENV=production, because the rules of production hold only there. It connects to nothing.`,
    examples: ['dure config check', 'NODE_ENV=production dure config check --strict'],
    exitCodes: ['4  there are problems, or warnings with --strict'],
  })
    .option('--strict', 'fail on warnings')
    .action((options: { strict?: true }) => checkConfig(invocation, options));
}

/** @throws {CommandError} `invalid_configuration` or `weak_configuration`, after the list */
async function checkConfig({ environment, output }: Invocation, options: { strict?: true }): Promise<void> {
  const { inspectConfig } = await import('../infrastructure/config/environment.ts');
  const { texts, config, problems } = inspectConfig(environment);
  const warnings = config.production ? [...config.warnings, ...exampleValues(texts)] : [];
  const notes = notesOn(config);
  const document = { is_usable: problems.length === 0, problems, warnings, notes };
  output.result(document, () => {
    const lines = [
      ...problems.map((text) => `problem  ${text}`),
      ...warnings.map((text) => `warning  ${text}`),
      ...notes.map((text) => `note     ${text}`),
    ];
    return lines.join('\n');
  });
  if (problems.length > 0) {
    const message = `${count(problems, 'problem')}: the service does not work with this configuration`;
    throw new CommandError('invalid_configuration', message);
  }
  if (warnings.length > 0 && options.strict)
    throw new CommandError('weak_configuration', `${count(warnings, 'warning')} (--strict)`);
}

/** Variables that the examples of deployments set to hosts of their own. */
const hosts =
  /^(DATABASE_(DIRECT_|REPLICA_)?URL|REDIS_URL|PUBLIC_URL|FRONTEND_URL|CORS_ORIGINS|MAIL_FROM|MEDIA_BASE_URL|TERMS_URL|PRIVACY_URL)$/;
/** What leads nowhere (RFC 2606, and the host of the example of Kubernetes), and passwords of templates. */
const example = /[@/.]example\.(com|net|org|internal)\b|\bchange[-_]?me\b|<password>/i;

function exampleValues(texts: Record<string, string | undefined>): string[] {
  return Object.keys(texts)
    .filter((name) => hosts.test(name) && example.test(texts[name] ?? ''))
    .map((name) => `${name} is still the one of an example`);
}

const idsOf = (keys: readonly { id: string }[]) => keys.map(({ id }) => id).join(', ');

/** What the service does not do with this configuration, or each instance by itself; and ids, which are public: tokens have them. */
function notesOn({ production, mail, vapid, redisUrl, images, ...config }: Config): string[] {
  const { secrets, privateKeys } = config;
  return textsOf({
    'NODE_ENV is not production: the rules of production are not checked': !production,
    'RESEND_API_KEY is not set: emails are not sent, but shown in the dev mailbox':
      !production && mail.resend === undefined,
    'VAPID_PRIVATE_KEY is not set: there are no push messages': production && vapid === undefined,
    'REDIS_URL is not set: several instances do not share limits': redisUrl === undefined,
    [`S3_BUCKET is not set: images are files in ${images.directory}, which all instances must share`]:
      images.s3 === undefined,
    'RATE_LIMIT_ENABLED is false: requests are not limited': !config.rateLimitEnabled,
    'WORKER_ENABLED is false: other instances must send emails and delete expired rows':
      !config.workerEnabled,
    [`JWT_SECRET has the ids ${idsOf(secrets)}; the first one signs`]: secrets[0].key.length > 0,
    [`JWT_PRIVATE_KEY has the ids ${idsOf(privateKeys)}; the first one signs`]: privateKeys.length > 0,
  });
}

function count({ length }: readonly string[], noun: string): string {
  return `${length} ${noun}${length === 1 ? '' : 's'}`;
}
