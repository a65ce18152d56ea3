import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { variables } from './environment.ts';
import { readLoginProviders } from './login-providers.ts';
import { deriveVapidKey, isVapidSubject } from './private-keys.ts';
import { ConfigError, parseUrl, readVariables, textsOf } from './readers.ts';
import { generatedSecrets, secretPath, toSecrets } from './secrets.ts';
import { findConflicts, findWarnings } from './warnings.ts';

export type { LoginProviderSettings } from './login-providers.ts';
export type { PrivateKey } from './private-keys.ts';
export { ConfigError } from './readers.ts';
export type { Secret } from './secrets.ts';

/** The configuration, validated and converted. Durations are in seconds. */
export type Config = ReturnType<typeof inspectConfig>['config'];

/** How many times longer than in production work may take: tests set it, for slow machines, and no variable does. */
export interface Patience {
  limitFactor?: number;
}

/** Where the database is. */
export interface DatabaseLocation {
  url: string;
  /** Without a transaction pooler. */
  directUrl: string;
  /** Whether `url` goes through a transaction pooler. */
  pooled: boolean;
}

/** A configuration with the location of the database: of the variables, or of the embedded server once it runs. */
export type AppConfig = Config & Patience & { database: DatabaseLocation };

/** Adds the location of the database to a configuration. */
export function withDatabase(config: Config, { url, directUrl, pooled }: DatabaseLocation): AppConfig {
  return { ...config, database: { ...config.database, url, directUrl, pooled } };
}

/**
 * Reads the configuration from environment variables; called once, at start.
 *
 * @param options `generateSecret`: whether a missing secret is generated, outside production
 * @throws {ConfigError} with every problem
 */
export function loadConfig(source: NodeJS.ProcessEnv, { generateSecret = true } = {}): Config {
  const { config, problems } = inspectConfig(source, { generateSecret });
  if (problems.length > 0) throw new ConfigError(...problems);
  return config;
}

/** Reads what it takes to reach the database; other variables may be missing or wrong. @throws {ConfigError} with every problem */
export function loadDatabaseSettings(source: NodeJS.ProcessEnv): Pick<Config, 'database' | 'dataDirectory'> {
  const { config, problems } = inspectConfig(source);
  // The service needs `DATABASE_URL` in production; here one of the two is enough.
  const ignored = config.database.url === undefined ? undefined : 'DATABASE_URL must be set in production';
  const ofDatabase = problems.filter(
    (text) => /^(NODE_ENV|DATABASE_(DIRECT_)?URL) /.test(text) && text !== ignored,
  );
  if (ofDatabase.length > 0) throw new ConfigError(...ofDatabase);
  return config;
}

/**
 * Locates the database of the settings: that of the variables, else the embedded one.
 *
 * @param start starts or reaches the embedded server in a folder
 * @returns its location, and `stop`, which ends what was started
 */
export async function locateDatabase(
  { database: { url, directUrl, pooled }, dataDirectory }: Pick<Config, 'database' | 'dataDirectory'>,
  start: (directory: string) => Promise<{ url: string; stop(): Promise<void> }>,
): Promise<DatabaseLocation & { stop(): Promise<void> }> {
  if (url !== undefined) return { url, directUrl: directUrl ?? url, pooled, stop: async () => undefined };
  const server = await start(join(dataDirectory, 'postgres'));
  return { url: server.url, directUrl: server.url, pooled: false, stop: server.stop };
}

/**
 * Reads the configuration as {@link loadConfig} does, but generates no secret unless told to.
 *
 * @returns also `problems`, one line each, and `texts`, what each variable is set to or has by default
 */
export function inspectConfig(source: NodeJS.ProcessEnv, { generateSecret = false } = {}) {
  const production = source['NODE_ENV'] === 'production';
  const { values, texts, problems } = readVariables(variables({ production }), source);
  /** Reads a part, whose problems are collected, so that one message lists all. */
  const read = <Part>(part: () => Part, fallback: Part): Part => {
    try {
      return part();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return fallback;
    }
  };
  const { urls, environment, secrets: given, vapid, mail, ...settings } = values;
  const { port, dataDirectory, frontendUrl, publicUrl = `http://localhost:${port}` } = settings;
  const path = secretPath(dataDirectory);
  const isGenerated = !source['JWT_SECRET'] && !production && (generateSecret || existsSync(path));
  const secrets =
    given ?? (isGenerated ? read(() => generatedSecrets(path), undefined) : undefined) ?? toSecrets('');
  const [{ key: secret }] = secrets;
  const { subject = `mailto:${/[^\s<>]+@[^\s<>]+/.exec(mail.from)?.[0]}` } = vapid;
  const isDerived = !production && secret.length > 0;
  const vapidKey = vapid.key ?? (isDerived ? deriveVapidKey(secret) : undefined);
  const { apiKey, baseUrl } = mail.resend;
  const { bucket, endpoint, region = 'us-east-1', accessKeyId, secretAccessKey } = settings.images.s3;
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  const { terms, privacy } = settings.consentDocuments;
  // Never `null`, which is the origin of a sandboxed frame.
  const frontendOrigin = parseUrl(frontendUrl)?.origin ?? '';
  const { corsOrigins = production ? [] : [frontendOrigin] } = settings;
  problems.push(
    ...findConflicts(source),
    ...textsOf({
      'METRICS_PORT must differ from PORT, which is for clients': settings.metricsPort === port,
      'VAPID_SUBJECT must be an address such as mailto:push@example.com, or a URL that starts with https://; in production one that push services can reach: without it MAIL_FROM counts':
        (vapid.key ?? vapid.subject) !== undefined && !isVapidSubject(subject, { production }),
    }),
  );
  const config = {
    ...settings,
    production,
    /** Settings that work but are weak, for the log. */
    warnings: findWarnings(texts),
    /** One of the two URLs is enough; without both, the database is the embedded one. */
    database: {
      ...settings.database,
      url: urls.pooled ?? urls.direct,
      directUrl: urls.direct ?? urls.pooled,
      pooled: urls.pooled !== undefined && urls.direct !== undefined,
    },
    secrets,
    /** The first one signs access tokens, the first secret does without any. All verify. */
    privateKeys: settings.privateKeys.given ?? settings.privateKeys.ofFile ?? [],
    publicUrl,
    images: {
      /** Where browsers find uploaded images, without a slash at its end. */
      baseUrl: settings.images.baseUrl ?? `${publicUrl}/media`,
      /** Folder of the uploaded images, unless they are in S3. */
      directory: join(dataDirectory, 'media'),
      s3: bucket === undefined ? undefined : { bucket, endpoint, region, credentials },
    },
    mail: { from: mail.from, resend: apiKey === undefined ? undefined : { apiKey, baseUrl } },
    /** Of push messages; undefined where there are none. */
    vapid: vapidKey && { ...vapidKey, subject },
    corsOrigins,
    /** Of pages that may use the refresh token in the cookie: of the frontend, which may be that of the service, and the others. */
    pageOrigins: [frontendOrigin, ...corsOrigins].filter(Boolean),
    /** In the order in which a page shows them. */
    loginProviders: read(() => readLoginProviders({ list: settings.loginProviders, source, production }), []),
    /** What users agree to at sign-up, where they have to. */
    consentDocuments: { terms: documentOf(terms), privacy: documentOf(privacy) },
  };
  return { config, texts, problems };
}

/** A document that users agree to: its date, as `2026-01-31`, and where it is. */
function documentOf({ version, url }: Record<'version' | 'url', string | undefined>) {
  return version === undefined || url === undefined ? undefined : { version, url };
}
