import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { hostOf, isLoopback } from '../addresses.ts';
import type { Config } from './config.ts';
import { parseUrl, textsOf } from './readers.ts';

/** What variables are set to, or have by default. */
type Texts = Record<string, string | undefined>;

/** Variables that the examples of deployments set to hosts of their own. */
const hosts =
  /^(DATABASE_(DIRECT_|REPLICA_)?URL|REDIS_URL|PUBLIC_URL|FRONTEND_URL|CORS_ORIGINS|MAIL_FROM|MEDIA_BASE_URL|TERMS_URL|PRIVACY_URL)$/;
/** What leads nowhere: RFC 2606, and the host of the example of Kubernetes. */
const exampleHost = /[@/.]example\.(com|net|org|internal)\b/;

const databaseUrls = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL'] as const;

/** What is missing, or too much, beside other variables. One that is set and wrong counts as set. */
export function findConflicts(source: NodeJS.ProcessEnv): string[] {
  const isSet = (name: string) => Boolean(source[name]);
  const ofBucket = ['S3_ENDPOINT', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'].filter(isSet);
  const alone = (one: string, other: string) => ({
    [`${one} and ${other} must be set together, or neither`]: isSet(one) !== isSet(other),
  });
  return textsOf({
    [`S3_BUCKET must be set with ${ofBucket.join(', ')}`]: ofBucket.length > 0 && !isSet('S3_BUCKET'),
    'MEDIA_BASE_URL must be set with S3_BUCKET: the URL under which browsers find the bucket':
      isSet('S3_BUCKET') && !isSet('MEDIA_BASE_URL'),
    'S3_REGION must be set with S3_BUCKET, unless S3_ENDPOINT is':
      isSet('S3_BUCKET') && !isSet('S3_REGION') && !isSet('S3_ENDPOINT'),
    ...alone('S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'),
    'TERMS_VERSION must be set with PRIVACY_VERSION': isSet('PRIVACY_VERSION') && !isSet('TERMS_VERSION'),
    ...alone('TERMS_VERSION', 'TERMS_URL'),
    ...alone('PRIVACY_VERSION', 'PRIVACY_URL'),
    'JWT_PRIVATE_KEY and JWT_PRIVATE_KEY_FILE must not both be set':
      isSet('JWT_PRIVATE_KEY') && isSet('JWT_PRIVATE_KEY_FILE'),
  });
}

/** Warnings about settings that work but are weak, for the log at start. They contain no values. */
export function findWarnings(texts: Texts): string[] {
  if (texts['NODE_ENV'] !== 'production') return [];
  const frontend = parseUrl(texts['FRONTEND_URL']);
  const weak = databaseUrls.filter((name) => hasWeakPassword(parseUrl(texts[name])));
  return [
    ...weak.map((name) => `${name} has no password or a common one: use a long random one`),
    ...textsOf({
      'FRONTEND_URL is on this machine: links in emails open on the machine of the reader':
        frontend !== undefined && isLoopback(hostOf(frontend)),
    }),
  ];
}

/** Parts of passwords that are guessed first. */
const commonPassword =
  /admin|change|database|default|example|passw[o0]rd|postgres|secret|qwerty|abcdef|123456/i;

/** The values are compared as they are in the URL: encoded, they are not common. */
function hasWeakPassword(url: URL | undefined): boolean {
  // Without a host it is a socket on this machine, where PostgreSQL checks the system's user.
  if (!url || url.hostname === '') return false;
  const { username, password, pathname } = url;
  const isName = [username, pathname.slice(1)].some((name) => name.toLowerCase() === password.toLowerCase());
  return password.length < 8 || isName || commonPassword.test(password);
}

/**
 * Looks at how the settings of production fit together, for `dure config check`. Texts contain no passwords, keys or secrets.
 *
 * @returns `warnings`, beyond those of the start; `notes`, of what is right or wrong, depending on how the service is deployed
 */
export function findDeploymentWarnings(texts: Texts, config: Config) {
  if (!config.production) {
    const note = `NODE_ENV is ${texts['NODE_ENV']}: the rules of production are not checked`;
    return { warnings: [], notes: [note] };
  }
  const { trustProxy, logLevel, images, redisUrl } = config;
  return {
    warnings: [
      ...openConnections(texts),
      ...Object.keys(texts)
        .filter((name) => hosts.test(name) && exampleHost.test(texts[name] ?? ''))
        .map((name) => `${name} is still the one of an example`),
      ...textsOf({
        // The service itself does not speak TLS, so https means that there is a proxy.
        'TRUST_PROXY is not set, but PUBLIC_URL is https: the proxy that ends TLS counts as the client of every request, so that all clients share one limit':
          (trustProxy === false || trustProxy.length === 0) && config.publicUrl.startsWith('https:'),
        [`LOG_LEVEL is ${logLevel}: security events, which are logged at level info, are lost`]:
          /^(warn|error|fatal|silent)$/.test(logLevel),
      }),
    ],
    notes: textsOf({
      'REDIS_URL is not set: right for one instance, several do not share limits': !redisUrl,
      'DATABASE_REPLICA_URL is set without REDIS_URL: right for one instance; with several, users may not see what they wrote two seconds ago on another one':
        config.database.replica !== undefined && !redisUrl,
      [`S3_BUCKET is not set: images are files in ${images.directory}, which must outlive the container and be the same for all instances`]:
        images.s3 === undefined,
    }),
  };
}

/** Connections to a database on another machine that anybody on the way can read: TLS is not the default. */
function openConnections(texts: Texts): string[] {
  return databaseUrls.flatMap((name) => {
    const url = parseUrl(texts[name]);
    if (!url || !isElsewhere(url)) return [];
    const ssl = url.searchParams.get('ssl') === 'true' ? 'verify-full' : 'disable';
    const mode = url.searchParams.get('sslmode') ?? ssl;
    return textsOf({
      [`${name} leads to another machine without TLS: add sslmode=verify-full`]: mode === 'disable',
      [`${name} does not check who the server is: use sslmode=verify-full`]: mode === 'no-verify',
    });
  });
}

const privateRanges = ['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat'];

/** Whether a host can be outside of a private network: names without a dot are those of containers. */
function isElsewhere(url: URL): boolean {
  const host = hostOf(url);
  if (host === '' || isLoopback(host)) return false;
  if (isIP(host) !== 0) return !privateRanges.includes(ipaddr.process(host).range());
  return host.includes('.') && !/\.(internal|local|localdomain|svc|lan|home\.arpa)$/.test(host);
}
