import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { describeSystemError, hasSystemCode } from '../system-errors.ts';

/** The version of the service, from `package.json`. */
export const version: string = createRequire(import.meta.url)('#package/package.json').version;

/** An invalid configuration; the message lists every problem, one per line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(...problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Converts the text of a variable. @throws {ConfigError} whose problems continue the name of the variable */
type Reader<Value> = (text: string) => Value;

/** What reads the variables of an environment, and collects what is wrong with them. */
export type Variables = ReturnType<typeof openVariables>;

/** @param needed names of variables that must be set */
export function openVariables(source: NodeJS.ProcessEnv, needed: readonly string[] = []) {
  /** One line each, so that one message lists all. */
  const problems: string[] = [];
  /** By name, what each variable that was read is set to, or has by default. */
  const texts: Record<string, string | undefined> = {};

  /** Does work for a variable, whose problems are collected: those of a reader, or why a file cannot be used. */
  function attempt<Value>(name: string, work: () => Value): Value | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ConfigError || hasSystemCode(error))) throw error;
      const found =
        error instanceof ConfigError ? error.problems : [`cannot be used: ${describeSystemError(error)}`];
      problems.push(...found.map((problem) => `${name} ${problem}`));
      return undefined;
    }
  }

  /** Reads a variable. It counts as not set where it is empty, as `compose.yaml` passes it, or wrong. */
  function read<Value>(name: string, reader: Reader<Value>, byDefault: string): Value;
  function read<Value>(name: string, reader: Reader<Value>): Value | undefined;
  function read(name: string, reader: Reader<unknown>, byDefault?: string): unknown {
    const given = source[name] || undefined;
    const isMissing = given === undefined && needed.includes(name);
    if (isMissing) problems.push(`${name} must be set in production`);
    const value = given && attempt(name, () => reader(given));
    texts[name] = value === undefined && !isMissing ? byDefault : given;
    return value === undefined && byDefault !== undefined ? reader(byDefault) : value;
  }

  return { source, read, attempt, texts, problems };
}

export const asText: Reader<string> = (text) => text;

/** A text that passes a test, as it is. @param problem of any other one */
export const textThat =
  (isValid: (text: string) => boolean, problem: string): Reader<string> =>
  (text) => {
    if (isValid(text)) return text;
    throw new ConfigError(problem);
  };

export const oneOf =
  <const Text extends string>(...texts: readonly Text[]): Reader<Text> =>
  (text) => {
    const found = texts.find((one) => one === text);
    if (found === undefined) throw new ConfigError(`must be one of ${texts.join(', ')}`);
    return found;
  };

export const flag: Reader<boolean> = (text) => oneOf('true', 'false')(text) === 'true';

export const wholeNumber =
  (minimum: number, maximum: number): Reader<number> =>
  (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= minimum && number <= maximum) return number;
    throw new ConfigError(`must be a whole number from ${minimum} to ${maximum}`);
  };

const unitSeconds: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400 };

interface DurationLimits {
  isPositive?: boolean;
  /** Whether `0` without a unit switches something off. */
  canBeOff?: boolean;
  /** By default above any use, and safely below the largest date. */
  longest?: `${number}${'s' | 'h' | 'd'}`;
  /** Why it has to be short. */
  reason?: string;
}

/** A duration with its unit, in seconds. */
export function duration(limits: DurationLimits = {}): Reader<number> {
  const { isPositive, canBeOff, longest = '3650d', reason } = limits;
  return (text) => {
    if (canBeOff && text === '0') return 0;
    if (!/^\d{1,9}(ms|s|m|h|d)$/.test(text))
      throw new ConfigError('must be a duration such as 500ms, 30s, 15m, 1h or 14d');
    const seconds = secondsOf(text);
    if (isPositive && seconds === 0) throw new ConfigError('must be longer than 0');
    if (seconds <= secondsOf(longest)) return seconds;
    throw new ConfigError(`must be at most ${longest}${reason ? `: ${reason}` : ''}`);
  };
}

const secondsOf = (text: string) => Number.parseInt(text, 10) * (unitSeconds[text.replace(/^\d+/, '')] ?? 1);

/** The parts of a list that is separated by commas. */
export function splitList(text: string): string[] {
  return text.split(/\s*,\s*/).flatMap((part) => part.trim() || []);
}

/** @param whatElse what a wrong item is, such as "not a host" */
export const list =
  (isItem: (item: string) => boolean, whatElse: string): Reader<string[]> =>
  (text) => {
    const items = splitList(text);
    const wrong = items.filter((item) => !isItem(item));
    if (wrong.length === 0) return items;
    throw new ConfigError(...wrong.map((item) => `holds "${item}", which is ${whatElse}`));
  };

interface UrlRules {
  /** By default those of the web. */
  protocols?: readonly string[];
  /** What continues the URL, which has no slashes at its end then. */
  continuation?: string;
  /** Why it has to be https in production, where that is a rule. */
  reason?: string | false;
}

/** Other names below `localhost` are asked of DNS by some resolvers. */
const thisMachine = ['localhost', '127.0.0.1', '[::1]'];

/** A URL, as it is but for slashes at its end. */
export function url(rules: UrlRules = {}): Reader<string> {
  const { protocols = ['https:', 'http:'], continuation, reason } = rules;
  return (text) => {
    const url = parseUrl(text);
    if (!url || !protocols.includes(url.protocol))
      throw new ConfigError(
        `must be a URL that starts with ${protocols.map((one) => `${one}//`).join(' or ')}`,
      );
    if (reason && url.protocol === 'http:' && !thisMachine.includes(url.hostname))
      throw new ConfigError(`must be https in production: ${reason}`);
    if (continuation === undefined) return text;
    if (url.search || url.hash) throw new ConfigError(`must end with its path: ${continuation} continue it`);
    return text.replace(/\/+$/, '');
  };
}

/** The URL of a database. Rejects what the driver would misread, or fail at with each connection. */
export const databaseUrl: Reader<string> = (text) => {
  const url = parseUrl(text);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
    const hint = 'user and password are percent-encoded, such as %23 for #';
    throw new ConfigError(`must be a URL that starts with postgres:// or postgresql://; ${hint}`);
  }
  const { username, password, searchParams } = url;
  if (/%(?![\da-f]{2})/i.test(username + password))
    throw new ConfigError('must have %25 for each % in user and password');
  const mode = searchParams.get('sslmode') ?? 'disable';
  if (!/^(disable|prefer|require|verify-ca|verify-full|no-verify)$/.test(mode))
    throw new ConfigError('must have an sslmode of disable, verify-full or no-verify');
  const certificate = searchParams.get('sslrootcert');
  if (certificate !== null && !existsSync(certificate))
    throw new ConfigError('must have a file that exists as sslrootcert');
  return text;
};

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

/** The texts that apply. */
export function textsOf(rules: Record<string, boolean>): string[] {
  return Object.keys(rules).filter((text) => rules[text]);
}
