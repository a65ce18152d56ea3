import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Config } from './config.ts';
import { type Environment, isLoopback, parseUrl } from './environment.ts';
import { isPlaceholder } from './secrets.ts';

/** Parts of passwords that are guessed first. */
const commonPassword =
  /admin|change|database|default|example|passw[o0]rd|postgres|secret|qwerty|abcdef|123456/i;

const minPasswordLength = 8;

const databaseUrls = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL'] as const;

/** The protocol without TLS, and that with it. */
const protocolsWithTls = {
  REDIS_URL: ['redis:', 'rediss:'],
  S3_ENDPOINT: ['http:', 'https:'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['http:', 'https:'],
} as const;

/** Warnings about settings that work but are weak, for the log at start. They contain no values. */
export function findWarnings(environment: Environment): string[] {
  const production = environment.NODE_ENV === 'production';
  const provider = parseUrl(environment.RESEND_BASE_URL);
  const frontend = parseUrl(environment.FRONTEND_URL);
  return [
    ...databaseUrls
      .filter((name) => production && hasWeakPassword(environment[name]))
      .map((name) => `${name} has no password or a common one: use a long random one`),
    ...textsOf({
      'RESEND_BASE_URL is plain http: the API key and the emails are not encrypted on their way':
        provider?.protocol === 'http:' && !isLoopback(provider),
      'FRONTEND_URL is this machine: links in emails open on the machine of the reader':
        production && frontend !== undefined && isLoopback(frontend),
    }),
  ];
}

/** The values are compared as they are in the URL: encoded, they are not common. */
function hasWeakPassword(value: string | undefined): boolean {
  const url = parseUrl(value);
  // Without a host it is a socket on this machine, where PostgreSQL checks the system's user.
  if (!url || url.hostname === '') return false;
  const password = url.password.toLowerCase();
  const names = [url.username, url.pathname.slice(1)].map((name) => name.toLowerCase());
  return (
    password.length < minPasswordLength ||
    isPlaceholder(password) ||
    commonPassword.test(password) ||
    names.includes(password)
  );
}

/**
 * Looks at how the settings of production fit together. Texts contain no passwords, keys or secrets.
 *
 * @returns `warnings`, of what is weak or will not do what it is for, beyond those of the start; `notes`, of what is right or
 *   wrong, depending on how the service is deployed
 */
export function findDeploymentWarnings(environment: Environment, config: Config) {
  if (!config.production) {
    const note = `NODE_ENV is ${environment.NODE_ENV}: the rules of production are not checked`;
    return { warnings: [], notes: [note] };
  }
  const { corsOrigins, trustProxy, logLevel, images, secrets, privateKeys } = config;
  const frontendOrigin = parseUrl(config.frontendUrl)?.origin ?? config.frontendUrl;
  const proxies = trustProxy === false ? [] : trustProxy;
  return {
    warnings: [
      ...openConnections(environment),
      ...proxies
        .filter(isTooWide)
        .map(
          (range) =>
            `TRUST_PROXY holds ${range}, which is more than a network of proxies: clients in it can pretend any address`,
        ),
      ...corsOrigins
        .filter(isOpenOrigin)
        .map(
          (origin) =>
            `CORS_ORIGINS holds ${origin}: that page can be changed on its way, so that its tokens are stolen`,
        ),
      ...textsOf({
        // The service itself does not speak TLS, so https means that there is a proxy.
        'TRUST_PROXY is not set, but PUBLIC_URL is https: the proxy that ends TLS counts as the client of every request, so that all clients share one limit':
          proxies.length === 0 && config.publicUrl.startsWith('https:'),
        'RATE_LIMIT_ENABLED is false: nothing limits what one client can ask for': !config.rateLimitEnabled,
        'ARGON2_MEMORY_KIB and ARGON2_TIME_COST are below what OWASP recommends, such as 19456 and 2: a copy of the database gives weak passwords away sooner':
          isCheaperThanRecommended(environment),
        [`LOG_LEVEL is ${logLevel}: security events, which are logged at level info, are lost`]: [
          'warn',
          'error',
          'fatal',
          'silent',
        ].includes(logLevel),
      }),
    ],
    notes: textsOf({
      'REDIS_URL is not set: right for one instance, several do not share limits': !config.redisUrl,
      'DATABASE_REPLICA_URL is set without REDIS_URL: right for one instance; with several, users may not see what they wrote two seconds ago on another one':
        config.database.replica !== undefined && !config.redisUrl,
      'WORKER_ENABLED is false: another instance must send emails and delete expired rows':
        !config.workerEnabled,
      'DOCS_ENABLED is true: anybody can use Swagger UI at /docs/': config.docsEnabled,
      'MIGRATE_ON_START is true: each start may change the database': config.database.migrateOnStart,
      [`S3_BUCKET is not set: images are files in ${images.directory}, which must outlive the container and be the same for all instances`]:
        images.s3 === undefined,
      'CORS_ORIGINS does not hold the origin of FRONTEND_URL: browsers block its calls, unless its server passes them on':
        frontendOrigin !== parseUrl(config.publicUrl)?.origin && !corsOrigins.includes(frontendOrigin),
      [`JWT_SECRET holds ${secrets.length} secrets: finish the rotation when the old one has served its time`]:
        secrets.length > 1,
      [`JWT_PRIVATE_KEY holds ${privateKeys.length} keys: finish the rotation when the access tokens of the old one have expired`]:
        privateKeys.length > 1,
    }),
  };
}

function isTooWide(range: string): boolean {
  const [address = '', bits] = range.split('/');
  if (bits === undefined) return false;
  return Number(bits) < (isIP(address) === 6 ? 16 : 8);
}

/** Connections to other machines that anybody on the way can read. */
function openConnections(environment: Environment): string[] {
  const databases = databaseUrls.flatMap((name) => {
    const url = parseUrl(environment[name]);
    if (!url || !isPublic(url)) return [];
    const ssl = url.searchParams.get('ssl') === 'true' ? 'verify-full' : 'disable';
    const mode = url.searchParams.get('sslmode') ?? ssl;
    return textsOf({
      [`${name} leads to another machine without TLS: add sslmode=verify-full`]: mode === 'disable',
      [`${name} does not check who the server is: use sslmode=verify-full`]: mode === 'no-verify',
    });
  });
  const others = Object.entries(protocolsWithTls).flatMap(([name, [open, closed]]) => {
    const url = parseUrl(environment[name as keyof typeof protocolsWithTls]);
    const isOpen = url?.protocol === open && isPublic(url);
    return isOpen ? [`${name} leads to another machine without TLS: use ${closed}//`] : [];
  });
  return [...databases, ...others];
}

const privateRanges = ['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat'];

/** Whether a host can be outside of a private network: names without a dot are those of containers. */
function isPublic(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === '' || isLoopback(url)) return false;
  if (isIP(host) !== 0) return !privateRanges.includes(ipaddr.process(host).range());
  return host.includes('.') && !/\.(internal|local|localdomain|svc|lan|home\.arpa)$/.test(host);
}

/** OWASP's sets of parameters with the same strength, as memory in KiB by time cost. */
function isCheaperThanRecommended({
  ARGON2_MEMORY_KIB: memory,
  ARGON2_TIME_COST: time,
}: Environment): boolean {
  const least = { 1: 47_104, 2: 19_456, 3: 12_288, 4: 9_216 }[time] ?? 7_168;
  return memory < least;
}

function isOpenOrigin(origin: string): boolean {
  const url = parseUrl(origin);
  return url?.protocol === 'http:' && !isLoopback(url);
}

/** The texts that apply. */
function textsOf(rules: Record<string, boolean>): string[] {
  return Object.keys(rules).filter((text) => rules[text]);
}
