import type { Command } from 'commander';
import type { Config } from '../infrastructure/config/config.ts';
import { textsOf } from '../infrastructure/config/readers.ts';
import { addCommand, addGroup, CommandError, type Invocation, table } from './command.ts';

interface CheckOptions {
  settings?: true;
  strict?: true;
}

/** `dure config`. */
export function addConfigCommands(program: Command, invocation: Invocation): void {
  const config = addGroup(program, 'config', 'The configuration of the service');

  addCommand(config, 'check', {
    summary: 'validate the environment variables',
    details: `It reads them as the service does at its start, and prints
  problem  stops the start of the service
  warning  weak, or still the value of an example
  note     what is switched off
and with --settings every setting that is in effect. Never prints a password, key or secret. Run it where the service runs, with NODE_ENV=production, because the rules of production hold only there. It connects to nothing.`,
    examples: ['dure config check', 'NODE_ENV=production dure config check --settings --strict'],
    exitCodes: ['4  there are problems, or warnings with --strict'],
  })
    .option('--settings', 'print the settings that are in effect, too')
    .option('--strict', 'fail on warnings')
    .action((options: CheckOptions) => checkConfig(invocation, options));
}

/** @throws {CommandError} `invalid_configuration` or `weak_configuration`, after the list */
async function checkConfig({ environment: given, output }: Invocation, options: CheckOptions): Promise<void> {
  const { inspectConfig } = await import('../infrastructure/config/environment.ts');
  const { texts, config, problems } = inspectConfig(given);
  const warnings = config.production ? [...config.warnings, ...exampleValues(texts)] : [];
  const notes = switchedOff(config);
  const settings = options.settings ? effectiveSettings(given, texts, config) : undefined;
  const document = { is_usable: problems.length === 0, problems, warnings, notes, settings };
  output.result(document, () => {
    const lines = [
      ...problems.map((text) => `problem  ${text}`),
      ...warnings.map((text) => `warning  ${text}`),
      ...notes.map((text) => `note     ${text}`),
    ];
    if (settings) lines.push('', table(settings, ['name', 'source', 'value'], ''));
    return lines.length > 0 ? lines.join('\n') : 'nothing is wrong or switched off';
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

/** What the service does not do with this configuration, or each instance by itself. */
function switchedOff({ production, mail, vapid, redisUrl, images, ...config }: Config): string[] {
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
  });
}

function count({ length }: readonly string[], noun: string): string {
  return `${length} ${noun}${length === 1 ? '' : 's'}`;
}

const secretNames = new Set(['RESEND_API_KEY', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']);

/** Every setting that is in effect; null where it is not set and has no default. */
function effectiveSettings(given: NodeJS.ProcessEnv, texts: Record<string, unknown>, config: Config) {
  // Defaults that depend on other variables.
  const computed: Record<string, unknown> = {
    JWT_SECRET: given['JWT_SECRET'] || undefined,
    DATABASE_DIRECT_URL: config.database.directUrl,
    PUBLIC_URL: config.publicUrl,
    MEDIA_BASE_URL: config.images.baseUrl,
    VAPID_SUBJECT: config.vapid?.subject,
    LOGIN_PROVIDERS: config.loginProviders.map(({ id }) => id).join(','),
    CORS_ORIGINS: config.corsOrigins.join(','),
  };
  return Object.entries(texts).map(([name, text]) => {
    const source = given[name] ? 'environment' : 'default';
    return { name, value: show(name, text ?? computed[name], config), source };
  });
}

function show(name: string, value: unknown, config: Config): string | null {
  if (name === 'JWT_SECRET') return showSecrets(value, config);
  if (value === undefined || value === '') return null;
  if (name === 'JWT_PRIVATE_KEY') return `(set) ids ${idsOf(config.privateKeys)}`;
  if (secretNames.has(name) || /_CLIENT_SECRET$|_PRIVATE_KEY$/.test(name)) return '(set)';
  return withoutPassword(String(value));
}

/** The ids of secrets are public: every token contains one. */
function showSecrets(value: unknown, { secrets, production }: Config): string | null {
  if (value === undefined && (production || secrets[0].key.length === 0)) return null;
  return `${value === undefined ? '(generated)' : '(set)'} ids ${idsOf(secrets)}`;
}

const idsOf = (keys: readonly { id: string }[]) => keys.map(({ id }) => id).join(', ');

/** A URL without its password, and without parameters, which can hold one too. */
function withoutPassword(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  if (!URL.canParse(text)) return '(not a URL)';
  const url = new URL(text);
  const mode = url.searchParams.get('sslmode');
  if (url.password !== '') url.password = '***';
  url.search = mode === null ? '' : `?sslmode=${encodeURIComponent(mode)}`;
  return url.href;
}
