import { type Static, Type } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';

const duration = (value: string) => Type.String({ default: value, pattern: '^[0-9]{1,9}(ms|s|m|h|d)$' });
/** `0` switches something off. */
const optionalDuration = (value: string) =>
  Type.String({ default: value, pattern: '^(0|[0-9]{1,9}(ms|s|m|h|d))$' });
const enumWithDefault = <const Text extends string>(values: readonly Text[], value: Text) =>
  Type.Union(
    values.map((each) => Type.Literal(each)),
    { default: value },
  );

const Environment = Type.Object({
  // A misspelt `production` must not run without the checks of production.
  NODE_ENV: enumWithDefault(['development', 'test', 'production'], 'development'),
  HOST: Type.Optional(Type.String({ minLength: 1 })),
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65535 }),
  METRICS_PORT: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
  DATABASE_URL: Type.Optional(Type.String()),
  DATABASE_DIRECT_URL: Type.Optional(Type.String()),
  DATABASE_POOL_SIZE: Type.Integer({ default: 10, minimum: 2, maximum: 1000 }),
  DATA_DIR: Type.String({ default: '.data', minLength: 1 }),
  JWT_SECRET: Type.Optional(Type.String()),
  ACCESS_TOKEN_TTL: duration('15m'),
  REFRESH_TOKEN_TTL: duration('14d'),
  SESSION_MAX_AGE: duration('90d'),
  REFRESH_REUSE_GRACE: duration('10s'),
  EMAIL_CODE_TTL: duration('10m'),
  EMAIL_COOLDOWN: duration('60s'),
  VERIFICATION_TOKEN_TTL: duration('30m'),
  PASSWORD_RESET_TTL: duration('1h'),
  UNVERIFIED_ACCOUNT_TTL: optionalDuration('30d'),
  EMAIL_VERIFICATION: enumWithDefault(['optional', 'required'], 'optional'),
  PASSWORD_MIN_LENGTH: Type.Integer({ default: 8, minimum: 8, maximum: 64 }),
  ARGON2_MEMORY_KIB: Type.Integer({ default: 19456, minimum: 1024, maximum: 4194304 }),
  ARGON2_TIME_COST: Type.Integer({ default: 2, minimum: 1, maximum: 100 }),
  UV_THREADPOOL_SIZE: Type.Integer({ default: 4, minimum: 1, maximum: 1024 }),
  FRONTEND_URL: Type.Optional(Type.String()),
  PUBLIC_URL: Type.Optional(Type.String()),
  S3_BUCKET: Type.Optional(Type.String({ minLength: 1 })),
  S3_ENDPOINT: Type.Optional(Type.String()),
  S3_REGION: Type.Optional(Type.String({ minLength: 1 })),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String({ minLength: 1 })),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String({ minLength: 1 })),
  MEDIA_BASE_URL: Type.Optional(Type.String()),
  RESEND_API_KEY: Type.Optional(Type.String()),
  RESEND_BASE_URL: Type.Optional(Type.String()),
  MAIL_FROM: Type.Optional(Type.String()),
  QUOTA_POSTS_PER_DAY: Type.Integer({ default: 30, minimum: 0, maximum: 1_000_000 }),
  QUOTA_EDITS_PER_DAY: Type.Integer({ default: 60, minimum: 0, maximum: 1_000_000 }),
  QUOTA_REQUESTS_PER_DAY: Type.Integer({ default: 100, minimum: 0, maximum: 1_000_000 }),
  CORS_ORIGINS: Type.Optional(Type.String()),
  TRUST_PROXY: Type.String({ default: 'false' }),
  REDIS_URL: Type.Optional(Type.String()),
  RATE_LIMIT_ENABLED: Type.Boolean({ default: true }),
  WORKER_ENABLED: Type.Boolean({ default: true }),
  DOCS_ENABLED: Type.Optional(Type.Boolean()),
  MIGRATE_ON_START: Type.Optional(Type.Boolean()),
  SHUTDOWN_DELAY: optionalDuration('0'),
  LOG_LEVEL: enumWithDefault(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(Type.String()),
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

/** Every environment variable that the service reads. */
export const environmentNames: readonly string[] = Object.keys(Environment.properties);

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
  return Value.Decode(Environment, Value.Default(Environment, values));
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

/** Checks the limits of durations, which the types do not know. */
export function checkDurations(environment: Environment, problems: string[]): void {
  const lifetimes = [
    'ACCESS_TOKEN_TTL',
    'REFRESH_TOKEN_TTL',
    'SESSION_MAX_AGE',
    'EMAIL_CODE_TTL',
    'VERIFICATION_TOKEN_TTL',
    'PASSWORD_RESET_TTL',
  ] as const;
  for (const name of lifetimes) {
    if (seconds(environment[name]) === 0) problems.push(`${name} must be longer than 0`);
  }
  for (const name of [...lifetimes, 'REFRESH_REUSE_GRACE', 'UNVERIFIED_ACCOUNT_TTL'] as const) {
    if (seconds(environment[name]) > longestDuration) problems.push(`${name} must be at most 3650d`);
  }
  if (seconds(environment.SHUTDOWN_DELAY) > 5) {
    problems.push('SHUTDOWN_DELAY must be at most 5s: requests in flight need the rest of the 15 seconds');
  }
  if (seconds(environment.EMAIL_COOLDOWN) > 3600) {
    problems.push('EMAIL_COOLDOWN must be at most 1h: sent mails are remembered that long');
  }
}

/** Ten years, in seconds: above any use, and safely below the largest date. */
const longestDuration = 3650 * 86400;

const unitSeconds = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400 } as const;

/** The seconds of a duration. */
export function seconds(text: string): number {
  const [, amount = '0', unit = 's'] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  return Number(amount) * unitSeconds[unit as keyof typeof unitSeconds];
}
