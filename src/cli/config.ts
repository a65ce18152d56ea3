import type { Command } from 'commander';
import type { Config } from '../infrastructure/config/config.ts';
import { addCommand, addGroup, CommandError, type Invocation, table } from './command.ts';

interface CheckOptions {
  settings?: true;
  strict?: true;
  connect?: true;
}

/** `dure config`. */
export function addConfigCommands(program: Command, invocation: Invocation): void {
  const config = addGroup(program, 'config', 'The configuration of the service');

  addCommand(config, 'check', {
    summary: 'validate the environment variables',
    details: `It reads them as the service does at its start, and prints
  problem  stops the start of the service
  warning  works, but is weak or will not do what it is for
  note     right or wrong, depending on how the service is deployed
and with --settings every setting that is in effect. Never prints a password, key or secret. Run it where the service runs, with NODE_ENV=production, because the rules of production hold only there. Without --connect it connects to nothing.`,
    examples: [
      'dure config check',
      'NODE_ENV=production dure config check --settings --strict',
      'dure config check --connect',
    ],
    exitCodes: ['4  there are problems, or warnings with --strict'],
  })
    .option('--settings', 'print the settings that are in effect, too')
    .option('--strict', 'fail on warnings')
    .option('--connect', 'try the database, the replica and Redis, too')
    .action((options: CheckOptions) => checkConfig(invocation, options));
}

/** @throws {CommandError} `invalid_configuration` or `weak_configuration`, after the list */
async function checkConfig({ environment: given, output }: Invocation, options: CheckOptions): Promise<void> {
  const { inspectConfig } = await import('../infrastructure/config/environment.ts');
  const { findDeploymentWarnings } = await import('../infrastructure/config/warnings.ts');
  const { texts, config, problems } = inspectConfig(given);
  const { warnings, notes } = findDeploymentWarnings(texts, config);
  const connect = async () => (await import('./config-connections.ts')).tryConnections(config);
  const tried = options.connect ? await connect() : { problems: [], warnings: [], notes: [] };
  const found = {
    problems: [...problems, ...tried.problems],
    warnings: [...config.warnings, ...warnings, ...tried.warnings],
    notes: [...notes, ...tried.notes],
  };
  const settings = options.settings ? effectiveSettings(given, texts, config) : undefined;
  output.result({ is_usable: found.problems.length === 0, ...found, ...(settings && { settings }) }, () => {
    const lines = [
      ...found.problems.map((text) => `problem  ${text}`),
      ...found.warnings.map((text) => `warning  ${text}`),
      ...found.notes.map((text) => `note     ${text}`),
    ];
    if (settings) lines.push('', table(settings, ['name', 'source', 'value'], ''));
    return lines.length > 0 ? lines.join('\n') : 'nothing is wrong or weak';
  });
  if (found.problems.length > 0) {
    const problems = count(found.problems, 'problem');
    const message = `${problems}: the service does not work with this configuration`;
    throw new CommandError('invalid_configuration', message);
  }
  if (found.warnings.length > 0 && options.strict)
    throw new CommandError('weak_configuration', `${count(found.warnings, 'warning')} (--strict)`);
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
