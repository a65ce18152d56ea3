import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyPluginAsync, InjectOptions, LightMyRequestResponse } from 'fastify';
import pg from 'pg';
import { pino } from 'pino';
import { type AppOverrides, buildApp } from '../../src/app.ts';
import { loadConfig, withDatabase } from '../../src/config/config.ts';
import { loggerOptions } from '../../src/http/plugins/logging.ts';
import type { OutgoingMail } from '../../src/mail/transport.ts';
import { createTestDatabase } from './database.ts';

/** What the tests set where they do not say otherwise: cheap hashes, no limits per client, as all of them share one address. */
const environment = {
  JWT_SECRET: 'a secret that only tests have 0123456789',
  ARGON2_MEMORY_KIB: '1024',
  ARGON2_TIME_COST: '1',
  RATE_LIMIT_ENABLED: 'false',
  LOG_LEVEL: 'info',
  FRONTEND_URL: 'https://app.example.com',
};

/** An answer, read. */
export interface Answer {
  status: number;
  headers: LightMyRequestResponse['headers'];
  /** The whole body; null when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests find out
  body: any;
  text: string;
}

export interface TestApp {
  app: FastifyInstance;
  /** The app's own database, for looking and for what no request can do. */
  pool: pg.Pool;
  url: string;
  mails: Mails;
  /** Every line that the app logged. */
  logs: string[];
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  remoteAddress?: string;
}

/** Mails that the app sent, through its real queue and worker. */
export interface Mails {
  sent: OutgoingMail[];
  /** Waits for the mail after the first `skip` ones to an address. @throws after 10 seconds without it */
  next(to: string, skip?: number): Promise<OutgoingMail>;
  /** Resolves when every queued mail has been handled, so that what is not there now does not come. */
  settled(): Promise<void>;
}

interface TestAppOptions extends Pick<AppOverrides, 'timeLimit' | 'streamTimes' | 'maxEventLoopDelay'> {
  /** Of another instance, to build a second one on the same database. */
  databaseUrl?: string;
  /** Of the test itself, for rules that no operation shows by itself. */
  routes?: FastifyPluginAsync;
}

/**
 * Builds the real app on a database of its own.
 *
 * @param overrides environment variables
 */
export async function createTestApp(
  overrides: Record<string, string> = {},
  options: TestAppOptions = {},
): Promise<TestApp> {
  const own = options.databaseUrl === undefined ? await createTestDatabase() : undefined;
  const url = options.databaseUrl ?? own?.url ?? '';
  const config = withDatabase(loadConfig({ ...environment, ...overrides }), url);
  const logs: string[] = [];
  const logger = pino(loggerOptions(config.logLevel), { write: (line: string) => void logs.push(line) });
  const pool = new pg.Pool({ connectionString: url, max: 3 });
  // The pool does not wait for its last connections to close, and dropping the database cuts them off.
  pool.on('error', () => undefined);
  const sent: OutgoingMail[] = [];
  const transport = { send: async (mail: OutgoingMail) => void sent.push(mail) };
  const { databaseUrl: _, routes, ...appOverrides } = options;
  const app = await buildApp(config, { logger, transport, maxEventLoopDelay: 0, ...appOverrides });
  if (routes) await app.register(routes);
  await app.ready();
  return {
    app,
    pool,
    url,
    logs,
    mails: mailsOf(sent, pool),
    call: (method, path, callOptions) => call(app, method, path, callOptions),
    async close() {
      await app.close();
      await pool.end();
      await own?.drop();
    },
  };
}

async function call(
  app: FastifyInstance,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { token, body, headers, remoteAddress } = options;
  // Many requests that wait for nothing outside would be one long turn of the event loop, and so look like overload.
  await nextTurn();
  const response = await app.inject({
    method: method as NonNullable<InjectOptions['method']>,
    url: path,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { payload: body as NonNullable<InjectOptions['payload']> }),
    ...(remoteAddress === undefined ? {} : { remoteAddress }),
  });
  const isJson = String(response.headers['content-type']).includes('json') && response.body !== '';
  return {
    status: response.statusCode,
    headers: response.headers,
    body: isJson ? response.json() : null,
    text: response.body,
  };
}

function mailsOf(sent: OutgoingMail[], pool: pg.Pool): Mails {
  return {
    sent,
    async next(to, skip = 0) {
      for (let waited = 0; waited < 10_000; waited += 20) {
        const mail = sent.filter((one) => one.to === to)[skip];
        if (mail) return mail;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(`no mail number ${skip + 1} to ${to}`);
    },
    async settled() {
      for (let waited = 0; waited < 10_000; waited += 20) {
        const { rows } = await pool.query('SELECT count(*)::int AS jobs FROM graphile_worker.jobs');
        if (rows[0]?.jobs === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error('the mail queue does not get empty');
    },
  };
}

/** A good password for tests. */
export const password = 'gimbap-and-coffee-7';

let counter = 0;

/** A new account, and a session of it. */
export async function createUser({ call }: Pick<TestApp, 'call'>, fields: Record<string, unknown> = {}) {
  counter += 1;
  const account = {
    username: `user${process.pid}n${counter}`,
    email: `user${process.pid}n${counter}@example.com`,
    name: '김두레',
    password,
    ...fields,
  };
  const signup = await call('POST', '/auth/signup/', { body: account });
  if (signup.status !== 201) throw new Error(`sign-up failed: ${signup.text}`);
  const session = await logIn({ call }, account);
  return { ...account, id: signup.body.data.id as number, ...session };
}

/** Logs in and returns the tokens. */
export async function logIn(
  { call }: Pick<TestApp, 'call'>,
  account: { username: string; password: string },
) {
  const { username, password } = account;
  const login = await call('POST', '/auth/login/', { body: { username, password } });
  if (login.status !== 200) throw new Error(`login failed: ${login.text}`);
  return { token: login.body.data.access as string, refresh: login.body.data.refresh as string };
}

/** The six digits in a verification mail. */
export function codeIn(mail: OutgoingMail): string {
  const code = /\b\d{6}\b/.exec(mail.text)?.[0];
  if (code === undefined) throw new Error('the mail holds no code');
  return code;
}

/** The query of the reset link in a mail. */
export function resetLinkIn(mail: OutgoingMail): { uid: string; token: string; url: string } {
  const url = /https:\/\/\S+\/reset-password\?\S+/.exec(mail.text)?.[0];
  if (url === undefined) throw new Error('the mail holds no link');
  const { searchParams } = new URL(url);
  return { uid: searchParams.get('uid') ?? '', token: searchParams.get('token') ?? '', url };
}
