import type { Environment } from './environment.ts';

/** Checks the variables that are URLs. */
export function checkUrls(environment: Environment, production: boolean, problems: string[]): void {
  const protocols = {
    DATABASE_URL: ['postgres:', 'postgresql:'],
    DATABASE_DIRECT_URL: ['postgres:', 'postgresql:'],
    RESEND_BASE_URL: ['https:', 'http:'],
    REDIS_URL: ['redis:', 'rediss:'],
    FRONTEND_URL: ['https:', 'http:'],
    PUBLIC_URL: ['https:', 'http:'],
    S3_ENDPOINT: ['https:', 'http:'],
    MEDIA_BASE_URL: ['https:', 'http:'],
    OTEL_EXPORTER_OTLP_ENDPOINT: ['https:', 'http:'],
  } as const;
  for (const [name, allowed] of Object.entries(protocols)) {
    const value = environment[name as keyof typeof protocols];
    if (value === undefined) continue;
    const url = parseUrl(value);
    if (!url || !allowed.some((protocol) => protocol === url.protocol)) {
      problems.push(`${name} must be a URL that starts with ${allowed.map((p) => `${p}//`).join(' or ')}`);
    } else if (isBase(name) && production && url.protocol === 'http:' && !isLoopback(url)) {
      problems.push(`${name} must be https in production: ${reasons[name]}`);
    } else if (isBase(name) && (url.search || url.hash)) {
      problems.push(`${name} must end with its path: ${continuations[name]} continue it`);
    }
  }
  if (
    environment.MAIL_FROM &&
    !/^([^<>\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(environment.MAIL_FROM)
  ) {
    problems.push('MAIL_FROM must be an address, as in "Dure <no-reply@example.com>"');
  }
}

const links = 'the links in mails';
/** What continues the URLs that are bases of others. */
const continuations = { FRONTEND_URL: links, PUBLIC_URL: links, MEDIA_BASE_URL: 'the names of images' };
const carriesSecrets = `${links} carry secrets`;
const reasons = {
  FRONTEND_URL: carriesSecrets,
  PUBLIC_URL: carriesSecrets,
  MEDIA_BASE_URL: 'browsers block other images on secure pages',
};

function isBase(name: string): name is keyof typeof continuations {
  return name in continuations;
}

/** A URL without the slashes at its end. */
export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** A variable as a URL; undefined when it is missing or none. */
export function parseUrl(value: string | undefined): URL | undefined {
  return value !== undefined && URL.canParse(value) ? new URL(value) : undefined;
}

/** Whether a URL stays on this machine. */
export function isLoopback(url: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
}
