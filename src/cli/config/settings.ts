import type { Config } from '../../config/config.ts';
import type { Environment } from '../../config/environment.ts';

/** A setting as it is in effect. */
interface Setting {
  name: string;
  /** Null: not set, and without a default. Without anything secret. */
  value: string | null;
  source: 'environment' | 'default';
}

/** Their values are never shown. */
const secretNames = new Set(['JWT_SECRET', 'RESEND_API_KEY', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']);

/**
 * Every setting that is in effect, in the order of the documentation.
 *
 * @param given the variables that are set
 */
export function effectiveSettings(
  given: NodeJS.ProcessEnv,
  environment: Environment,
  config: Config,
): Setting[] {
  const defaults = computedDefaults(config);
  return Object.entries(environment).map(([name, value]) => {
    const isGiven = (given[name] ?? '') !== '';
    const shown = show(name, value ?? defaults[name], config);
    return { name, value: shown, source: isGiven ? 'environment' : 'default' };
  });
}

/** Defaults that depend on other variables. */
function computedDefaults(config: Config): Record<string, unknown> {
  return {
    HOST: config.host,
    DATABASE_DIRECT_URL: config.database.directUrl,
    FRONTEND_URL: config.frontendUrl,
    PUBLIC_URL: config.publicUrl,
    MEDIA_BASE_URL: config.images.baseUrl,
    MAIL_FROM: config.mail.from,
    CORS_ORIGINS: config.corsOrigins.join(','),
    DOCS_ENABLED: config.docsEnabled,
    MIGRATE_ON_START: config.database.migrateOnStart,
  };
}

function show(name: string, value: unknown, config: Config): string | null {
  if (name === 'JWT_SECRET') return showSecrets(value, config);
  if (value === undefined || value === '') return null;
  if (secretNames.has(name)) return '(set)';
  return withoutPassword(String(value));
}

/** The ids of secrets are public: they stand in every token. */
function showSecrets(value: unknown, { secrets, production }: Config): string | null {
  if (value === undefined && (production || secrets[0].key.length === 0)) return null;
  const ids = secrets.map(({ id }) => id).join(', ');
  return `${value === undefined ? '(generated)' : '(set)'} ids ${ids}`;
}

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
