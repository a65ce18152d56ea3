import { existsSync } from 'node:fs';
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';

/** What the type of a variable does not say. Texts are parts of the messages about it. */
interface Rules {
  /** Of a duration. */
  isPositive?: boolean;
  longest?: string;
  /** Of a URL. */
  protocols?: readonly string[];
  /** What continues the URL. */
  continuation?: string;
  /** Why a duration has to be short, or a URL https in production. */
  reason?: string;
}

const shape = '[0-9]{1,9}(ms|s|m|h|d)';
/** Ten years: above any use, and safely below the largest date. */
const longest = '3650d';
const duration = (value: string, rules: Rules = { longest }) =>
  Type.String({ default: value, pattern: `^${shape}$`, ...rules });
const lifetime = (value: string) => duration(value, { isPositive: true, longest });
/** `0` switches something off. */
const optionalDuration = (value: string, rules: Rules = { longest }) =>
  Type.String({ default: value, pattern: `^(0|${shape})$`, ...rules });
const url = (protocols: readonly string[], rules: Rules = {}) =>
  Type.Optional(Type.String({ protocols, ...rules }));
const web = ['https:', 'http:'];
const postgres = ['postgres:', 'postgresql:'];
const links = { continuation: 'the links in emails', reason: 'the links in emails carry secrets' };
const documents = { reason: 'users agree to what is there' };
const quota = (value: number) => Type.Integer({ default: value, minimum: 0, maximum: 1_000_000 });
const enumWithDefault = <const Text extends string>(values: readonly Text[], value: Text) =>
  Type.Union(
    values.map((each) => Type.Literal(each)),
    { default: value },
  );

/** The environment variables that the service reads, but for those of `login-providers.ts`, whose names vary. */
export const Environment = Type.Object({
  // A misspelt `production` must not run without the checks of production.
  NODE_ENV: enumWithDefault(['development', 'test', 'production'], 'development'),
  HOST: Type.Optional(Type.String({ minLength: 1 })),
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65535 }),
  METRICS_PORT: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
  DATABASE_URL: url(postgres),
  DATABASE_DIRECT_URL: url(postgres),
  DATABASE_REPLICA_URL: url(postgres),
  DATABASE_POOL_SIZE: Type.Integer({ default: 10, minimum: 2, maximum: 1000 }),
  DATA_DIR: Type.String({ default: '.data', minLength: 1 }),
  JWT_SECRET: Type.Optional(Type.String()),
  JWT_PRIVATE_KEY: Type.Optional(Type.String()),
  JWT_PRIVATE_KEY_FILE: Type.Optional(Type.String()),
  VAPID_PRIVATE_KEY: Type.Optional(Type.String()),
  VAPID_SUBJECT: Type.Optional(Type.String()),
  // Of Chrome and most others, Firefox, Safari, Edge.
  PUSH_SERVICES: Type.String({
    default: 'fcm.googleapis.com,*.push.services.mozilla.com,*.push.apple.com,*.notify.windows.com',
  }),
  ACCESS_TOKEN_TTL: lifetime('15m'),
  REFRESH_TOKEN_TTL: lifetime('14d'),
  SESSION_MAX_AGE: lifetime('90d'),
  REFRESH_REUSE_GRACE: duration('10s'),
  EMAIL_CODE_TTL: lifetime('10m'),
  EMAIL_COOLDOWN: duration('60s', { longest: '1h', reason: 'sent emails are remembered that long' }),
  VERIFICATION_TOKEN_TTL: lifetime('30m'),
  PASSWORD_RESET_TTL: lifetime('1h'),
  UNVERIFIED_ACCOUNT_TTL: optionalDuration('30d'),
  NOTIFICATION_TTL: optionalDuration('365d'),
  EMAIL_VERIFICATION: enumWithDefault(['optional', 'required'], 'optional'),
  PASSWORD_MIN_LENGTH: Type.Integer({ default: 8, minimum: 8, maximum: 64 }),
  ARGON2_MEMORY_KIB: Type.Integer({ default: 19456, minimum: 1024, maximum: 4194304 }),
  ARGON2_TIME_COST: Type.Integer({ default: 2, minimum: 1, maximum: 100 }),
  UV_THREADPOOL_SIZE: Type.Integer({ default: 4, minimum: 1, maximum: 1024 }),
  FRONTEND_URL: url(web, links),
  PUBLIC_URL: url(web, links),
  S3_BUCKET: Type.Optional(Type.String({ minLength: 1 })),
  S3_ENDPOINT: url(web),
  S3_REGION: Type.Optional(Type.String({ minLength: 1 })),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String({ minLength: 1 })),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String({ minLength: 1 })),
  MEDIA_BASE_URL: url(web, {
    continuation: 'the names of images',
    reason: 'browsers block other images on secure pages',
  }),
  RESEND_API_KEY: Type.Optional(Type.String()),
  RESEND_BASE_URL: url(web),
  MAIL_FROM: Type.Optional(Type.String()),
  QUOTA_POSTS_PER_DAY: quota(30),
  QUOTA_EDITS_PER_DAY: quota(60),
  QUOTA_REQUESTS_PER_DAY: quota(100),
  LOGIN_PROVIDERS: Type.Optional(Type.String()),
  TERMS_VERSION: Type.Optional(Type.String()),
  TERMS_URL: url(web, documents),
  PRIVACY_VERSION: Type.Optional(Type.String()),
  PRIVACY_URL: url(web, documents),
  CORS_ORIGINS: Type.Optional(Type.String()),
  PASSKEY_ORIGINS: Type.Optional(Type.String()),
  TRUST_PROXY: Type.String({ default: 'false' }),
  REDIS_URL: url(['redis:', 'rediss:']),
  RATE_LIMIT_ENABLED: Type.Boolean({ default: true }),
  WORKER_ENABLED: Type.Boolean({ default: true }),
  DOCS_ENABLED: Type.Optional(Type.Boolean()),
  MIGRATE_ON_START: Type.Optional(Type.Boolean()),
  SHUTDOWN_DELAY: optionalDuration('0', {
    longest: '5s',
    reason: 'requests in flight need the rest of the 15 seconds',
  }),
  LOG_LEVEL: enumWithDefault(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(web),
  DURE_COMMIT: Type.Optional(Type.String({ maxLength: 64 })),
});

/** An invalid configuration; the message lists every problem, one per line. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** The environment variables, typed and with their defaults. */
export type Environment = Static<typeof Environment>;

/**
 * Reads the environment variables by their types.
 *
 * @param problems gets one line for each invalid variable, which then has its default
 */
export function readEnvironment(data: Record<string, unknown>, problems: string[]): Environment {
  const values = Object.fromEntries(
    Object.entries(Environment.properties).map(([name, { type }]) => [name, readValue(type, data[name])]),
  );
  const failed = new Set<string>();
  // A variable that is not set fails none of the rules, so that one message can list every problem.
  for (const error of Value.Errors(Environment, Value.Default(Environment, values))) {
    const name = error.path.slice(1);
    if (!failed.has(name)) problems.push(describeError(name, error));
    failed.add(name);
  }
  for (const name of failed) delete values[name];
  const environment = Value.Decode(Environment, Value.Default(Environment, values));
  checkRules(environment, problems);
  return environment;
}

/**
 * Texts that are no number or boolean stay texts, which validation then rejects. An empty one is a variable that is not set, as
 * `compose.yaml` passes it.
 */
function readValue(type: unknown, text: unknown): unknown {
  if (text === '') return undefined;
  if (typeof text !== 'string') return text;
  if (type === 'integer' && /^-?[0-9]{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function describeError(name: string, { type, schema, message }: ValueError): string {
  if (type === ValueErrorType.StringPattern) {
    return `${name} must be a duration such as 500ms, 30s, 15m, 1h or 14d`;
  }
  const allowed = schema.anyOf?.map(({ const: value }: { const: string }) => value);
  return `${name} must be ${allowed ? `one of ${allowed.join(', ')}` : message.replace(/^Expected /, '')}`;
}

/** Checks the durations and URLs that are set by their {@link Rules}. */
function checkRules(environment: Environment, problems: string[]): void {
  for (const [name, value] of Object.entries(environment)) {
    const rules: Rules & Partial<TSchema> = Environment.properties[name as keyof Environment];
    if (typeof value !== 'string') continue;
    const problem = rules.protocols
      ? urlProblem(value, rules, environment.NODE_ENV === 'production')
      : durationProblem(value, rules);
    if (problem !== undefined) problems.push(`${name} must ${problem}`);
  }
}

function durationProblem(value: string, { isPositive, longest, reason }: Rules): string | undefined {
  if (isPositive && seconds(value) === 0) return 'be longer than 0';
  if (longest === undefined || seconds(value) <= seconds(longest)) return undefined;
  return `be at most ${longest}${reason ? `: ${reason}` : ''}`;
}

/** What is wrong with a URL; undefined when it follows the rules. */
export function urlProblem(
  value: string,
  { protocols = [], continuation, reason }: Rules,
  production: boolean,
): string | undefined {
  const url = parseUrl(value);
  if (!url || !protocols.includes(url.protocol)) {
    const start = `be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
    return protocols.includes('postgres:')
      ? `${start}; user and password are percent-encoded, such as %23 for #`
      : start;
  }
  if (protocols.includes('postgres:')) return connectionProblem(url);
  if (reason && production && url.protocol === 'http:' && !isLoopback(url)) {
    return `be https in production: ${reason}`;
  }
  if (continuation === undefined || !(url.search || url.hash)) return undefined;
  return `end with its path: ${continuation} continue it`;
}

/** What the driver would misread, or fail at with each connection. */
function connectionProblem({ username, password, searchParams }: URL): string | undefined {
  if (/%(?![\da-f]{2})/i.test(username + password)) return 'have %25 for each % in user and password';
  if (
    !/^(disable|prefer|require|verify-ca|verify-full|no-verify)$/.test(
      searchParams.get('sslmode') ?? 'disable',
    )
  )
    return 'have an sslmode of disable, verify-full or no-verify';
  const missing = searchParams.get('sslrootcert');
  return missing === null || existsSync(missing) ? undefined : 'have a file that exists as sslrootcert';
}

export const withoutSlash = (url: string) => url.replace(/\/+$/, '');

/** The parts of a list that is separated by commas. */
export function splitList(value: string): string[] {
  return value
    .trim()
    .split(/\s*,\s*/)
    .filter(Boolean);
}

/** A variable as a URL; undefined when it is missing or none. */
export function parseUrl(value: string | undefined): URL | undefined {
  return value !== undefined && URL.canParse(value) ? new URL(value) : undefined;
}

/** Whether a URL stays on this machine. */
export function isLoopback(url: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
}

const unitSeconds = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400 } as const;

/** The seconds of a duration. */
export function seconds(text: string): number {
  const [, amount = '0', unit = 's'] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  return Number(amount) * unitSeconds[unit as keyof typeof unitSeconds];
}
