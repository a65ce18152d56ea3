import type { Environment } from './environment.ts';

/** What templates and examples show in place of a secret. Random text of 64 characters matches less than once in a million. */
const placeholder =
  /change[-_ ]?(?:me|this|it)|replace[-_ ]?(?:me|this|it)|please[-_ ]|your[-_ .]|super[-_ ]?secret|a-string-secret|placeholder|insecure|xxxxx|[<>]/i;

/** Parts of passwords that are guessed first. */
const commonPassword =
  /admin|change|database|default|example|passw[o0]rd|postgres|secret|qwerty|abcdef|123456/i;

const minPasswordLength = 8;

/** Whether a text is an example of a secret and not a secret. */
export function isPlaceholder(text: string): boolean {
  return placeholder.test(text);
}

/** Whether a secret is a shorter one that is repeated. */
export function isRepeated(secret: Buffer): boolean {
  const periods = Array.from({ length: Math.floor(secret.length / 2) }, (_, index) => index + 1);
  return periods.some((period) => secret.subarray(period).equals(secret.subarray(0, -period)));
}

/** Whether a text can be an API key of Resend, as `re_` and random characters. */
export function isResendKey(text: string): boolean {
  return /^re_.{5,}$/.test(text) && !isPlaceholder(text);
}

/** Whether a URL stays on this machine. */
export function isLoopback(url: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
}

/** Warnings about settings that work but are weak, for the log at start. They contain no values. */
export function findWarnings(environment: Environment): string[] {
  const databases = (['DATABASE_URL', 'DATABASE_DIRECT_URL'] as const)
    .filter((name) => environment.NODE_ENV === 'production' && hasWeakPassword(environment[name]))
    .map((name) => `${name} has no password or a common one: use a long random one`);
  const provider = parse(environment.RESEND_BASE_URL);
  const isOpen = provider?.protocol === 'http:' && !isLoopback(provider);
  const frontend = parse(environment.FRONTEND_URL);
  const isLocal = environment.NODE_ENV === 'production' && frontend !== undefined && isLoopback(frontend);
  return [
    ...databases,
    ...(isOpen
      ? ['RESEND_BASE_URL is plain http: the API key and the mails are not encrypted on their way']
      : []),
    ...(isLocal ? ['FRONTEND_URL is this machine: links in mails open on the machine of the reader'] : []),
  ];
}

/** The values are compared as they are in the URL: encoded, they are not common. */
function hasWeakPassword(value: string | undefined): boolean {
  const url = parse(value);
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

function parse(value: string | undefined): URL | undefined {
  return value !== undefined && URL.canParse(value) ? new URL(value) : undefined;
}
