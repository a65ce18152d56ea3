import { type Static, Type } from '@sinclair/typebox';
import { envSchema } from 'env-schema';

const duration = (value: string) => Type.String({ default: value, pattern: '^[0-9]{1,9}(ms|s|m|h|d)$' });
/** `0` switches something off. */
const optionalDuration = (value: string) =>
  Type.String({ default: value, pattern: '^(0|[0-9]{1,9}(ms|s|m|h|d))$' });
const enumWithDefault = <const Value extends string>(values: readonly Value[], value: Value) =>
  Type.Unsafe<Value>({ type: 'string', enum: values, default: value });

const Environment = Type.Object({
  // A misspelt `production` must not run without the checks of production.
  NODE_ENV: enumWithDefault(['development', 'test', 'production'], 'development'),
  HOST: Type.Optional(Type.String({ minLength: 1 })),
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65535 }),
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
  RESEND_API_KEY: Type.Optional(Type.String()),
  RESEND_BASE_URL: Type.Optional(Type.String()),
  MAIL_FROM: Type.Optional(Type.String()),
  QUOTA_POSTS_PER_DAY: Type.Integer({ default: 30, minimum: 0, maximum: 1_000_000 }),
  QUOTA_REQUESTS_PER_DAY: Type.Integer({ default: 100, minimum: 0, maximum: 1_000_000 }),
  CORS_ORIGINS: Type.Optional(Type.String()),
  TRUST_PROXY: Type.String({ default: 'false' }),
  REDIS_URL: Type.Optional(Type.String()),
  RATE_LIMIT_ENABLED: Type.Boolean({ default: true }),
  WORKER_ENABLED: Type.Boolean({ default: true }),
  DOCS_ENABLED: Type.Optional(Type.Boolean()),
  MIGRATE_ON_START: Type.Optional(Type.Boolean()),
  LOG_LEVEL: enumWithDefault(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(Type.String()),
});

/** The environment variables, typed and with their defaults. */
export type Environment = Static<typeof Environment>;

/**
 * Reads the environment variables by their types.
 *
 * @param problems gets one line for each invalid variable, which then has its default
 */
export function readEnvironment(data: Record<string, unknown>, problems: string[]): Environment {
  const read = (values: Record<string, unknown>) =>
    envSchema<Environment>({ schema: Environment, data: values, env: false });
  try {
    return read(data);
  } catch (error) {
    const errors: unknown = error instanceof Error && 'errors' in error ? error.errors : undefined;
    if (!Array.isArray(errors)) throw error;
    const failed = new Set(errors.map(({ instancePath }: AjvError) => instancePath.slice(1)));
    problems.push(...errors.map(describeError));
    // The valid variables are read anyway, so that one message can list every problem.
    return read(Object.fromEntries(Object.entries(data).filter(([name]) => !failed.has(name))));
  }
}

interface AjvError {
  instancePath: string;
  keyword: string;
  message: string;
  params: { allowedValues?: string[] };
}

function describeError({ instancePath, keyword, message, params }: AjvError): string {
  const name = instancePath.slice(1);
  if (keyword === 'pattern') return `${name} must be a duration such as 500ms, 30s, 15m, 1h or 14d`;
  return `${name} ${params.allowedValues ? `must be one of ${params.allowedValues.join(', ')}` : message}`;
}
