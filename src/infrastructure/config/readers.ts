import { existsSync } from 'node:fs';
import { isIP } from 'node:net';

/** An invalid configuration; the message lists every problem, one per line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(...problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** An environment variable. */
interface Variable<Value> {
  name: string;
  /** The text that counts where it is not set. */
  byDefault?: string | undefined;
  /** The problem where it is not set, if that is one. */
  missing?: string | undefined;
  /** @throws {ConfigError} whose problems continue the name */
  read(text: string): Value;
}

/** What becomes of a table of variables. */
type Values<Table> = {
  [Key in keyof Table]: Table[Key] extends Variable<infer Value> ? Value : Values<Table[Key]>;
};

/**
 * Reads a table of variables, which may have tables in it. An empty variable is not set, as `compose.yaml` passes it.
 *
 * @returns `values`; `problems`, one line each, of variables that have their defaults then; `texts` of all, by name
 */
export function readVariables<Table extends object>(table: Table, source: NodeJS.ProcessEnv) {
  const problems: string[] = [];
  const texts: Record<string, string | undefined> = {};
  const readOne = ({ name, byDefault, missing, read }: Variable<unknown>) => {
    const text = source[name] || byDefault;
    const isMissing = missing !== undefined && !source[name];
    if (isMissing) problems.push(`${name} ${missing}`);
    try {
      const value = text === undefined ? undefined : read(text);
      texts[name] = isMissing ? undefined : text;
      return value;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems.map((problem) => `${name} ${problem}`));
      texts[name] = byDefault;
      return byDefault === undefined ? undefined : read(byDefault);
    }
  };
  const readAll = <Part extends object>(part: Part): Values<Part> =>
    Object.fromEntries(
      Object.entries(part).map((entry): unknown[] => {
        const [key, value] = entry;
        return [key, 'read' in value ? readOne(value) : readAll(value)];
      }),
    );
  return { values: readAll(table), texts, problems };
}

/** A variable that has a default. */
export function variable<Value>(
  name: string,
  byDefault: string,
  read: (text: string) => Value,
): Variable<Value> {
  return { name, byDefault, read };
}

/** A variable without a default. */
export function optional<Value>(name: string, read: (text: string) => Value): Variable<Value | undefined> {
  return { name, read };
}

export const text = (name: string) => optional(name, (given) => given);
export const url = (name: string, rules: UrlRules) => optional(name, (given) => readUrl(given, rules));
export const flag = (name: string, byDefault: `${boolean}`) =>
  variable(name, byDefault, (given) => readOneOf(given, ['true', 'false']) === 'true');
export const oneOf = <const Text extends string>(name: string, byDefault: Text, texts: readonly Text[]) =>
  variable(name, byDefault, (given) => readOneOf(given, texts));
export const integer = (name: string, byDefault: string, limits: IntegerLimits) =>
  variable(name, byDefault, (given) => readInteger(given, limits));
export const duration = (name: string, byDefault: string, limits: DurationLimits = {}) =>
  variable(name, byDefault, (given) => readDuration(given, limits));
/** That is not 0. */
export const lifetime = (name: string, byDefault: string) => duration(name, byDefault, { isPositive: true });

function readOneOf<Text extends string>(given: string, texts: readonly Text[]): Text {
  const found = texts.find((one) => one === given);
  if (found === undefined) throw new ConfigError(`must be one of ${texts.join(', ')}`);
  return found;
}

type IntegerLimits = [minimum: number, maximum: number];

export function readInteger(given: string, [minimum, maximum]: IntegerLimits): number {
  const number = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  throw new ConfigError(`must be a whole number from ${minimum} to ${maximum}`);
}

interface DurationLimits {
  isPositive?: boolean;
  /** Whether `0` without a unit switches something off. */
  canBeOff?: boolean;
  longest?: string;
  /** Why it has to be short. */
  reason?: string;
}

const unitSeconds: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400 };

/** @returns seconds. The default of `longest` is above any use, and safely below the largest date. */
function readDuration(text: string, limits: DurationLimits = {}): number {
  const { isPositive, canBeOff, longest = '3650d', reason } = limits;
  if (canBeOff && text === '0') return 0;
  const [, amount, unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (amount === undefined) throw new ConfigError('must be a duration such as 500ms, 30s, 15m, 1h or 14d');
  const seconds = Number(amount) * (unitSeconds[unit] ?? 1);
  if (isPositive && seconds === 0) throw new ConfigError('must be longer than 0');
  if (text === longest || seconds <= readDuration(longest, { longest })) return seconds;
  throw new ConfigError(`must be at most ${longest}${reason ? `: ${reason}` : ''}`);
}

interface UrlRules {
  protocols: readonly string[];
  production?: boolean;
  /** What continues the URL. */
  continuation?: string;
  /** Why it has to be https in production. */
  reason?: string;
}

/** @returns the text, without slashes at its end where it is continued */
export function readUrl(text: string, { protocols, production, continuation, reason }: UrlRules): string {
  const url = parseUrl(text);
  const isPostgres = protocols.includes('postgres:');
  if (!url || !protocols.includes(url.protocol)) {
    const start = `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
    const hint = '; user and password are percent-encoded, such as %23 for #';
    throw new ConfigError(isPostgres ? start + hint : start);
  }
  if (isPostgres) checkConnection(url);
  if (reason && production && url.protocol === 'http:' && !isLoopback(url))
    throw new ConfigError(`must be https in production: ${reason}`);
  if (continuation === undefined) return text;
  if (url.search || url.hash) throw new ConfigError(`must end with its path: ${continuation} continue it`);
  return withoutSlash(text);
}

/** Rejects what the driver would misread, or fail at with each connection. */
function checkConnection({ username, password, searchParams }: URL): void {
  if (/%(?![\da-f]{2})/i.test(username + password))
    throw new ConfigError('must have %25 for each % in user and password');
  const mode = searchParams.get('sslmode') ?? 'disable';
  if (!/^(disable|prefer|require|verify-ca|verify-full|no-verify)$/.test(mode))
    throw new ConfigError('must have an sslmode of disable, verify-full or no-verify');
  const certificate = searchParams.get('sslrootcert');
  if (certificate !== null && !existsSync(certificate))
    throw new ConfigError('must have a file that exists as sslrootcert');
}

/** The parts of a list that is separated by commas. */
export function splitList(text: string): string[] {
  return text.split(/\s*,\s*/).flatMap((part) => part.trim() || []);
}

/** @param whatElse what a wrong item is, such as "not a host" */
export function readList(given: string, isItem: (item: string) => boolean, whatElse: string): string[] {
  const items = splitList(given);
  const wrong = items.filter((item) => !isItem(item));
  if (wrong.length > 0)
    throw new ConfigError(...wrong.map((item) => `holds "${item}", which is ${whatElse}`));
  return items;
}

/** @returns the text, a date such as `2026-01-31` */
export function readDate(text: string): string {
  const time = Date.parse(`${text}T00:00:00Z`);
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(`${text}T`)) return text;
  throw new ConfigError('must be a date such as 2026-01-31');
}

/** Whether a text is an origin: of a page, or of an app with a scheme of its own, such as `capacitor://localhost`. */
export function isOrigin(text: string): boolean {
  const url = parseUrl(text);
  return url !== undefined && !/^$|\*/.test(url.host) && `${url.protocol}//${url.host}` === text;
}

/** Whether an address or a range can be that of a proxy, for `TRUST_PROXY`. */
export function isProxy(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', bits = '1', ...rest] = text.split('/');
  const longest = { 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= longest && rest.length === 0;
}

/** A variable as a URL; undefined when it is missing or none. */
export function parseUrl(value: string | undefined): URL | undefined {
  return value !== undefined && URL.canParse(value) ? new URL(value) : undefined;
}

export const withoutSlash = (url: string) => url.replace(/\/+$/, '');

/** Whether a URL stays on this machine. */
export function isLoopback(url: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
}
