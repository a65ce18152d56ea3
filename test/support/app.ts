import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import argon2 from 'argon2';
import type { FastifyInstance, FastifyPluginAsync, InjectOptions, LightMyRequestResponse } from 'fastify';
import pg from 'pg';
import t from 'tap';
import { type AppOverrides, buildApp } from '../../src/app.ts';
import { createTokens } from '../../src/domains/auth/tokens.ts';
import { type Config, loadConfig, withDatabase } from '../../src/infrastructure/config/config.ts';
import { int8AsNumber } from '../../src/infrastructure/database/client.ts';
import type { OutgoingMail } from '../../src/infrastructure/mail/transport.ts';
import { contract } from './contract.ts';
import { createTestDatabase } from './database.ts';
import { runFolder } from './files.ts';
import type { Json } from './json.ts';
import { atMost, timeFactor } from './time.ts';
import { until } from './until.ts';

/** Defaults of the tests: cheap hashes, and no rate limits, because all requests have one client address. */
export const testEnvironment = {
  JWT_SECRET: 'a secret that only tests have 0123456789',
  ARGON2_MEMORY_KIB: '1024',
  ARGON2_TIME_COST: '1',
  RATE_LIMIT_ENABLED: 'false',
  LOG_LEVEL: 'info',
  FRONTEND_URL: 'https://app.example.com',
  PUBLIC_URL: 'https://api.example.com',
};

/** A parsed response. */
export interface TestResponse {
  status: number;
  headers: LightMyRequestResponse['headers'];
  /** The whole body; null when it is not JSON. */
  body: Json;
  text: string;
}

export interface TestApp {
  app: FastifyInstance;
  config: Config;
  /** Connections to the database of the app, to inspect it and to change what no request can. */
  pool: pg.Pool;
  url: string;
  mails: Mails;
  /** Every line that the app logged. */
  logs: string[];
  /** @throws when a response is not as documented, or a server error that the test does not expect */
  call(method: string, path: string, options?: CallOptions): Promise<TestResponse>;
  /**
   * Another instance on its database, without a worker unless the environment has one: what this app's worker sends are its `mails`,
   * too. It is closed as other apps are.
   */
  startInstance(environment?: Environment, options?: TestAppOptions): Promise<TestApp>;
  close(): Promise<void>;
}

/** What most helpers need of an app. */
export type Api = Pick<TestApp, 'call'>;
/** Of a body. */
export type Fields = Record<string, unknown>;
type Environment = Record<string, string>;

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  remoteAddress?: string;
}

/** Mails that the app sent through its real queue and worker. */
export interface Mails {
  sent: OutgoingMail[];
  /** Waits for the email after the first `skip` ones to an address. @throws after 30 seconds */
  next(to: string, skip?: number): Promise<OutgoingMail>;
  /** Waits until the email queue is empty, so that no further mail will come. */
  settled(): Promise<void>;
}

interface TestAppOptions
  extends Pick<AppOverrides, 'timeLimit' | 'streamTimes' | 'maxEventLoopDelay' | 'storage'> {
  /** Database of another instance, to build a second one on it. */
  databaseUrl?: string;
  /** Not an app that the tests of a process share: for tests that need an empty database, or change or close the app. */
  isolated?: boolean;
  /** The test is about the limits of the database and of requests: they are those of production. */
  productionLimits?: boolean;
  /** The test provokes responses with a status of 500 or more. */
  serverErrors?: boolean;
  /** Routes of the test, for rules that no operation shows. */
  routes?: FastifyPluginAsync;
  /** How the provider takes an email, after it is in `mails.sent`; at once without it. */
  deliver?(mail: OutgoingMail): Promise<void>;
}

/** Apps that are not closed yet. */
const openApps = new Set<TestApp>();
let sharedApp: Promise<TestApp> | undefined;
/** Of all apps of this process that are not given another one. */
let dataFolder: string | undefined;

/** Closes what the tests of a file left open, the newest first, because it may be on the database of an older one. */
export async function closeApps(): Promise<void> {
  for (const app of [...openApps].reverse()) await app.close();
}

/**
 * The real app on a new database. All calls without arguments in a process get the same one, with what others wrote, which is closed
 * with the process; others are closed after their test file, unless the test does.
 *
 * @param overrides environment variables
 */
export async function createTestApp(overrides: Environment = {}, options: TestAppOptions = {}) {
  if (Object.keys({ ...overrides, ...options }).length > 0) return startTestApp(overrides, options);
  sharedApp ??= startTestApp().then((app) => {
    openApps.delete(app);
    return { ...app, close: async () => undefined };
  });
  return sharedApp;
}

async function startTestApp(overrides: Environment = {}, options: TestAppOptions = {}): Promise<TestApp> {
  const url = options.databaseUrl ?? (await createTestDatabase());
  dataFolder ??= runFolder();
  const config = loadConfig({ ...testEnvironment, DATA_DIR: dataFolder, DATABASE_URL: url, ...overrides });
  const { directUrl = url, pooled } = config.database;
  const logs: string[] = [];
  const logStream = { write: (line: string) => void logs.push(line) };
  const pool = new pg.Pool({ connectionString: url, max: 3, types: int8AsNumber });
  // Tests terminate connections.
  pool.on('error', () => undefined);
  const sent: OutgoingMail[] = [];
  const { databaseUrl: _, isolated: __, serverErrors: allowed, productionLimits, ...others } = options;
  const { routes, deliver, ...appOverrides } = others;
  const transport = {
    async send(mail: OutgoingMail) {
      sent.push(mail);
      await deliver?.(mail);
    },
  };
  const appConfig = withDatabase(config, { url, directUrl, pooled });
  if (!productionLimits) appConfig.limitFactor = timeFactor;
  const app = await buildApp(appConfig, {
    logStream,
    transport,
    maxEventLoopDelay: 0,
    ...(!productionLimits && { timeLimit: atMost(9_000) }),
    ...appOverrides,
  });
  if (routes) await app.register(routes);
  await app.ready();
  if (!productionLimits) app.server.timeout *= timeFactor;
  let closed: Promise<void> | undefined;
  const testApp: TestApp = {
    app,
    config,
    pool,
    url,
    logs,
    mails: mailsOf(sent, pool),
    async call(method, path, callOptions) {
      const response = await call(app, method, path, callOptions);
      if (response.status >= 500 && !allowed) throw new Error(`${method} ${path}: ${response.text}`);
      contract.check(method, path, response);
      return response;
    },
    async startInstance(overrides, others) {
      const environment = { WORKER_ENABLED: 'false', ...overrides };
      const instance = await startTestApp(environment, { databaseUrl: url, ...others });
      return instance.config.workerEnabled ? instance : { ...instance, mails: testApp.mails };
    },
    close: () => (closed ??= close()),
  };
  async function close() {
    openApps.delete(testApp);
    await app.close();
    await pool.end();
  }
  openApps.add(testApp);
  // For a file that runs by itself.
  t.teardown(testApp.close);
  return testApp;
}

async function call(app: FastifyInstance, method: string, path: string, options: CallOptions = {}) {
  const { token, body, headers, remoteAddress } = options;
  // Without a turn of the event loop between them, many injected requests look like overload.
  await nextTurn();
  const response = await app.inject({
    method: method as NonNullable<InjectOptions['method']>,
    url: path,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { payload: body as NonNullable<InjectOptions['payload']> }),
    ...(remoteAddress === undefined ? {} : { remoteAddress }),
  });
  const { statusCode: status, headers: received, body: text } = response;
  const isJson = String(received['content-type']).includes('json') && text !== '';
  return { status, headers: received, body: isJson ? response.json() : null, text };
}

function mailsOf(sent: OutgoingMail[], pool: pg.Pool): Mails {
  return {
    sent,
    next(to, skip = 0) {
      return until(`mail ${skip + 1} to ${to}`, () => sent.filter((one) => one.to === to)[skip]);
    },
    async settled() {
      let left = '';
      await until('an empty mail queue', async () => {
        const { rows } = await pool.query(`SELECT row_to_json(o) AS row FROM outbox o
          UNION ALL SELECT row_to_json(j) FROM graphile_worker.jobs j`);
        left = JSON.stringify(rows);
        return rows.length === 0;
      }).catch((cause) => Promise.reject(new Error(`still in the queue: ${left}`, { cause })));
    },
  };
}

/** A valid password. */
export const password = 'gimbap-and-coffee-7';

let counter = 0;

/** The fields of an account that does not exist yet. */
function newAccount(fields: Fields) {
  counter += 1;
  const username = `user${process.pid}n${counter}`;
  return { username, email: `${username}@example.com`, name: '김두레', password, ...fields };
}

/** Signs up a new account and logs in. */
export async function signUpUser({ call }: Api, fields: Fields = {}) {
  const account = newAccount(fields);
  const signup = await call('POST', '/auth/signup/', { body: account });
  if (signup.status !== 201) throw new Error(`sign-up failed: ${signup.text}`);
  const session = await logIn({ call }, account);
  return { ...account, id: signup.body.data.id as number, ...session };
}

/** Hashes of passwords, which cost as much as all else that a test does. */
const hashes = new Map<string, Promise<string>>();

/** Creates an account as after its sign-up and login, without their hashes and the email: {@link signUpUser} has those. */
export async function createUser({ app, config, pool }: TestApp, fields: Fields = {}) {
  const account = newAccount(fields);
  const { memoryCost, timeCost } = config.password;
  const { accessTtl, refreshTtl, sessionMaxAge } = config.tokens;
  const lifetime = Math.min(refreshTtl, sessionMaxAge);
  const key = JSON.stringify([memoryCost, timeCost, account.password]);
  const hash =
    hashes.get(key) ??
    argon2.hash(account.password, { type: argon2.argon2id, memoryCost, timeCost, parallelism: 1 });
  hashes.set(key, hash);
  const sessionId = randomUUID();
  const { rows } = await pool.query<{ id: number }>(
    `WITH u AS (INSERT INTO users (username, email, name, password_hash, last_login_at)
                VALUES ($1, $2, $3, $4, now()) RETURNING id),
       k AS (INSERT INTO known_addresses (user_id, address) SELECT id, '127.0.0.1' FROM u),
       s AS (INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
             SELECT $5, id, '{}', 'lightMyRequest', '127.0.0.1', now() + make_interval(secs => $6) FROM u)
     SELECT id FROM u`,
    [account.username, account.email, account.name, await hash, sessionId, lifetime],
  );
  const id = rows[0]?.id ?? 0;
  const { sign } = createTokens(app.jwt, config);
  const claims = { userId: id, sessionId, count: 0 };
  const token = sign('access', claims, Math.min(accessTtl, lifetime));
  return { ...account, id, token, refresh: sign('refresh', claims, lifetime) };
}

/** Logs in and returns the tokens. */
export async function logIn({ call }: Api, account: { username: string; password: string }) {
  const { username, password } = account;
  const login = await call('POST', '/auth/login/', { body: { username, password } });
  if (login.status !== 200) throw new Error(`login failed: ${login.text}`);
  return { token: login.body.data.access as string, refresh: login.body.data.refresh as string };
}

/** Verifies the addresses of accounts without their codes. */
export async function verifyEmails({ pool }: TestApp, ...accounts: { id: number }[]): Promise<void> {
  const ids = accounts.map(({ id }) => id);
  await pool.query('UPDATE users SET is_verified = true WHERE id = ANY ($1)', [ids]);
}

/** Suspends an account, as an operator does. */
export async function suspend({ pool }: TestApp, { id }: { id: number }): Promise<void> {
  await pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [id]);
}

/** Waits until emails are jobs. */
export function relayed({ pool }: TestApp): Promise<unknown> {
  return until('an empty outbox', async () => (await pool.query('SELECT FROM outbox')).rowCount === 0);
}

/** The kinds of the emails to an account that wait in the queue, oldest first. */
export async function queuedFor({ pool }: TestApp, { id }: { id: number }): Promise<string[]> {
  const { rows } = await pool.query<{ kind: string }>(
    `SELECT payload->>'kind' AS kind FROM (
       SELECT 1 AS step, id, payload::jsonb FROM graphile_worker._private_jobs UNION ALL SELECT 2, id, mail FROM outbox
     ) mails WHERE payload->>'user_id' = $1 ORDER BY step, id`,
    [id],
  );
  return rows.map(({ kind }) => kind);
}

/** Deletes an account through the API. */
export function deleteAccount({ call }: Api, { token, password }: { token: string; password: string }) {
  return call('DELETE', '/auth/me/', { token, body: { password } });
}

/** The six digits in a verification email. */
export function codeIn(mail: OutgoingMail): string {
  const code = /\b\d{6}\b/.exec(mail.text)?.[0];
  if (code === undefined) throw new Error('the email has no code');
  return code;
}

/** The query of the reset link in an email. */
export function resetLinkIn(mail: OutgoingMail): { uid: string; token: string; url: string } {
  const url = /https:\/\/\S+\/reset-password\?\S+/.exec(mail.text)?.[0];
  if (url === undefined) throw new Error('the email has no link');
  const { searchParams } = new URL(url);
  return { uid: searchParams.get('uid') ?? '', token: searchParams.get('token') ?? '', url };
}

/**
 * Reads a list to its end.
 *
 * @param read reads the page of a part of the query, which is empty for the first one
 * @returns the ids of each page
 * @throws when a page leads to itself
 */
export async function readPages(read: (cursor: string) => Promise<TestResponse>): Promise<number[][]> {
  const pages: number[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: TestResponse = await read(cursor && `&cursor=${cursor}`);
    pages.push(body.data.items.map(({ id }: { id: number }) => id));
    if (body.data.next_cursor === cursor) throw new Error(`the page after ${cursor} is the same one`);
    cursor = body.data.next_cursor;
  }
  return pages;
}
