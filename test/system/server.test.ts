import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { password } from '../support/app.ts';
import { createEmptyDatabase, createTestDatabase, databaseUrl, execute } from '../support/database.ts';
import { root, temporaryFolder } from '../support/files.ts';
import { freePort } from '../support/free-port.ts';
import { minimalEnvironment, runScript } from '../support/processes.ts';
import { rawConnection } from '../support/raw-http.ts';
import { without } from '../support/requirements.ts';
import { serve } from '../support/serve.ts';
import { insist, post, production, spawnService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { allEnd } from './embedded-postgres/support.ts';

const login = { username: 'dure_cafe', password };
const account = { username: 'dure_cafe', password, name: '김두레', email: 'owner@example.com' };

/** The settings of production, on a new database. */
const productionSettings = async () => ({ ...production, DATABASE_URL: await createTestDatabase() });

/** Starts a service that ends at once. @returns what it printed: the reason, without a stack */
async function startThatFails(t: Test, environment: Record<string, string>, script?: string[]) {
  const { child, output } = spawnService(environment, script);
  t.equal((await once(child, 'close'))[0], 1);
  t.notMatch(output(), /\n\s+at /, 'no stack');
  return output();
}

/** Asks until the response is not 503, because the database may take too long to answer on a slow machine. */
const ask = (url: string, init?: RequestInit) =>
  until(`a response other than 503 of ${url}`, async () => {
    const response = await fetch(url, init);
    return response.status === 503 ? undefined : response;
  });

/** A connection to a service, on which the beginning of a request was sent. */
async function connectTo(url: string, start: string) {
  const connection = await rawConnection(Number(new URL(url).port));
  connection.send(`${start}Host: x\r\n`);
  return connection;
}

t.test('on the embedded database', async (t) => {
  const DATA_DIR = temporaryFolder(t);
  // The first start creates the database and the secret.
  const running = await startService({ DATA_DIR });
  t.teardown(() => running.end('SIGKILL'));
  t.equal((await insist(`${running.url}/auth/signup/`, account)).status, 201);

  await t.test('a second start in the same folder ends with a clear message', async (t) => {
    const output = await startThatFails(t, { DATA_DIR });
    t.match(output, /already running/);
    t.match(output, DATA_DIR);
    t.equal((await ask(`${running.url}/health/ready`)).status, 200);
  });

  const listUsers = async () => {
    const { code, stdout, stderr } = await runScript('build/src/cli.js', ['users', 'list', '--json'], {
      DATA_DIR,
    });
    return { code, users: code === 0 ? JSON.parse(stdout).items : stderr };
  };

  await t.test('the command works on the database of the running service', async (t) => {
    t.match(await listUsers(), { code: 0, users: [{ username: account.username }] });
    t.equal((await ask(`${running.url}/health/ready`)).status, 200);
  });

  await t.test('data and sessions survive SIGKILL and Ctrl-C', async (t) => {
    const loggedIn = await insist(`${running.url}/auth/login/`, login);
    t.equal(loggedIn.status, 200);
    t.same(await running.end('SIGKILL'), { code: null, signal: 'SIGKILL' });

    const again = await startService({ DATA_DIR });
    const headers = { authorization: `Bearer ${JSON.parse(loggedIn.text).data.access}` };
    t.equal((await ask(`${again.url}/auth/me/`, { headers })).status, 200);
    t.same(await again.end('SIGINT'), { code: 0, signal: null });
  });

  await t.test('the command starts the database where no service runs, and stops it', async (t) => {
    t.match(await listUsers(), { code: 0, users: [{ username: account.username }] });
    t.ok(await allEnd(DATA_DIR));
    const elsewhere = temporaryFolder(t);
    const { code, stderr } = await runScript('build/src/cli.js', ['stats'], { DATA_DIR: elsewhere });
    t.match({ code, stderr }, { code: 1, stderr: /no embedded database in .*set DATABASE_URL/ });
    t.same(await readdir(elsewhere), [], 'nothing is created');
  });
});

/** A script that moves the clock of a process. */
function shiftClock(milliseconds: number): string {
  return `const Real=Date;globalThis.Date=class extends Real{constructor(...a){if(a.length)super(...a);else super(Real.now()+${milliseconds})}static now(){return Real.now()+${milliseconds}}}`;
}

t.test('two instances whose clocks differ by a minute', async (t) => {
  const database = await createEmptyDatabase();
  const url = new URL(database);
  const name = url.pathname.slice(1);
  const role = `owner_${process.pid}`;
  await execute(
    database,
    `CREATE ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD 'owns-one-database'`,
    `ALTER DATABASE ${name} OWNER TO ${role}`,
  );
  t.teardown(() =>
    execute(new URL('postgres', database).href, `DROP DATABASE ${name} WITH (FORCE)`, `DROP ROLE ${role}`),
  );
  url.username = role;
  url.password = 'owns-one-database';
  const environment = {
    ...production,
    DATABASE_URL: url.href,
    MIGRATE_ON_START: 'true',
    // More than the requests take, and less than the clocks differ.
    REFRESH_REUSE_GRACE: '40s',
  };
  const start = (milliseconds: number) => {
    const script = encodeURIComponent(shiftClock(milliseconds));
    return startService({ ...environment, NODE_OPTIONS: `--import=data:text/javascript,${script}` });
  };
  const [ahead, behind] = await Promise.all([start(60_000), start(0)]);
  t.teardown(() => Promise.all([ahead.end('SIGKILL'), behind.end('SIGKILL')]));

  await t.test('start together, as owner of an empty database, and migrate it once', async (t) => {
    for (const { url } of [ahead, behind]) t.equal((await ask(`${url}/health/ready`)).status, 200);
    t.equal((await insist(`${ahead.url}/auth/signup/`, account)).status, 201);
  });

  await t.test('accept each other’s tokens', async (t) => {
    const issuedAt: number[] = [];
    for (const [one, other] of [
      [behind, ahead],
      [ahead, behind],
    ] as const) {
      const { data } = JSON.parse((await insist(`${one.url}/auth/login/`, login)).text);
      const [, claims = ''] = data.access.split('.');
      issuedAt.push(JSON.parse(Buffer.from(claims, 'base64url').toString()).iat);
      const me = (access: string, url: string) =>
        ask(`${url}/auth/me/`, { headers: { authorization: `Bearer ${access}` } });
      t.equal((await me(data.access, other.url)).status, 200);
      const refreshed = await insist(`${other.url}/auth/token/refresh/`, { refresh: data.refresh });
      t.equal(refreshed.status, 200);
      const pair = JSON.parse(refreshed.text).data;
      t.equal((await me(pair.access, one.url)).status, 200);
      const late = await insist(`${one.url}/auth/token/refresh/`, { refresh: data.refresh });
      t.equal(late.status, 200, 'the reuse grace does not depend on the clock of an instance');
      t.equal((await insist(`${one.url}/auth/token/refresh/`, { refresh: pair.refresh })).status, 200);
      await execute(database, `UPDATE sessions SET expires_at = now() + interval '50 seconds'`);
      const headers = { authorization: `Bearer ${pair.access}` };
      for (const { url } of [one, other]) {
        const listed = await (await ask(`${url}/auth/sessions/`, { headers })).json();
        t.match(listed, { data: { items: [{ is_current: true }] } }, 'listed as long as it is taken');
      }
      t.equal((await insist(`${one.url}/auth/logout/`, {}, headers)).status, 200);
      t.equal((await me(pair.access, other.url)).status, 401, 'ended on both at once');
    }
    const [ofBehind = 0, ofAhead = 0] = issuedAt;
    t.ok(ofAhead - ofBehind >= 60, 'the clocks do differ');
  });

  for (const service of [ahead, behind]) t.same(await service.end('SIGTERM'), { code: 0, signal: null });
});

t.test('DATABASE_DIRECT_URL alone is enough; with PORT=0, URLs have the real port', async (t) => {
  const DATA_DIR = temporaryFolder(t);
  const database = await createTestDatabase();
  const environment = { DATA_DIR, DATABASE_DIRECT_URL: database };
  const service = await startService({ ...environment, PORT: '0' });
  t.teardown(() => service.end());
  t.equal((await insist(`${service.url}/auth/signup/`, account)).status, 201);
  t.same(await readdir(DATA_DIR), ['jwt-secret'], 'no embedded database');
  const users = await runScript('build/src/cli.js', ['users', 'list', '--json'], environment);
  t.match(JSON.parse(users.stdout), { items: [{ username: account.username }] });

  const { data } = JSON.parse((await insist(`${service.url}/auth/login/`, login)).text);
  const headers = { authorization: `Bearer ${data.access}` };
  const store = { name: '햇살카페', category_ids: [1] };
  t.equal((await insist(`${service.url}/api/v1/stores/`, store, headers)).status, 201);
  const stores = JSON.parse(await (await ask(`${service.url}/api/v1/stores/`, { headers })).text());
  t.equal((await ask(stores.data.items[0].thumbnail)).status, 200);
});

t.test('production without what it needs stops with one message that lists every problem', async (t) => {
  const output = await startThatFails(t, { NODE_ENV: 'production', JWT_SECRET: 'short' });
  for (const name of ['DATABASE_URL', 'JWT_SECRET', 'PUBLIC_URL']) t.match(output, name);
});

t.test('a database that cannot keep Korean ends the start before anything is written', async (t) => {
  const settings = await productionSettings();
  const server = databaseUrl(settings.DATABASE_URL, 'postgres');
  const name = `latin_server_${process.pid}`;
  await execute(server, `CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
  t.teardown(() => execute(server, `DROP DATABASE ${name}`));
  const latin = databaseUrl(server, name);
  const output = await startThatFails(t, { ...settings, DATABASE_URL: latin });
  t.match(output, /the database has the encoding LATIN1: create it with ENCODING 'UTF8'/);
  t.strictSame(await execute(latin, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"), []);
});

t.test('a port that is taken ends the start with one line that helps', async (t) => {
  const { port } = new URL(await serve(t, () => undefined));
  const output = await startThatFails(t, { ...(await productionSettings()), PORT: port });
  const last = output.trimEnd().split('\n').at(-1);
  t.match(last, new RegExp(`in use 127.0.0.1:${port}. .*choose another port: PORT=3001 npm start$`));
});

t.test('demo and seed data are rejected in production', async (t) => {
  const settings = await productionSettings();
  for (const script of ['demo', 'seed']) {
    const output = await startThatFails(t, settings, [`build/scripts/${script}.js`]);
    t.match(output, 'does not run in production');
  }
  const usernames = await execute(settings.DATABASE_URL, 'SELECT username FROM users');
  t.strictSame(usernames, [], 'nor does a migration make any');
});

/** Prints on a signal what a library prints that does not know the logger: a stack of several lines. */
const library = `data:text/javascript,process.on('SIGWINCH', () => console.trace('a job was lost'))`;

t.test('on SIGTERM, requests finish, idle connections close, and the log is JSON to the end', async (t) => {
  const settings = { ...(await productionSettings()), SHUTDOWN_DELAY: '5s' };
  const script = ['--import', library, 'build/src/server.js'];
  const { url, child, end, output } = await startService(settings, script);
  // Rejected without the database, whose limits are those of production.
  const body = '{}';
  const idle = await connectTo(url, 'GET /health/live HTTP/1.1\r\n');
  idle.send('\r\n');
  await idle.response();
  const inFlight = await connectTo(url, 'POST /auth/signup/ HTTP/1.1\r\n');
  inFlight.send(
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  t.equal((await inFlight.response()).status, 100);
  child.kill('SIGWINCH');
  await until('a line of the library', () => output().includes('a job was lost'));

  const idleCloses = once(idle.socket, 'close');
  const ended = end('SIGTERM');
  // As npm repeats it; another one, because two of a kind may arrive as one.
  child.kill('SIGHUP');
  await until('not ready', async () => (await fetch(`${url}/health/ready`)).status === 503);
  // Together, because there are five seconds for both.
  const [live, invalid] = await Promise.all([fetch(`${url}/health/live`), post(`${url}/auth/signup/`, {})]);
  t.equal(live.status, 200, 'an instance that is not ready still answers');
  t.equal(invalid.status, 400);
  t.equal(invalid.headers.get('connection'), 'close', 'a proxy sends the next request elsewhere');
  await idleCloses;
  inFlight.send(body);
  t.equal((await inFlight.response()).status, 400);
  t.same(await ended, { code: 0, signal: null });
  await t.rejects(fetch(`${url}/health/live`));

  t.match(output(), new RegExp(`"version":"[\\d.]+","origin":"${url}","production":true,"msg":"started"`));
  t.match(output(), /"signal":"SIG(TERM|HUP)","msg":"shutting down"[\s\S]+"msg":"shut down"/);
  const lines = output().trimEnd().split('\n');
  const ofLibrary = lines.map((line) => JSON.parse(line)).filter(({ part }) => part === 'console');
  t.match(ofLibrary, [{ level: 40, msg: 'a job was lost' }]);
});

t.test('a log that is not read loses lines, counts them, and delays nothing', async (t) => {
  const settings = { ...(await productionSettings()), RATE_LIMIT_ENABLED: 'false' };
  const { url, child, output } = await startService(settings);
  t.teardown(() => child.kill('SIGKILL'));
  const { hostname, port } = new URL(url);
  const client = connect(Number(port), hostname).resume();
  t.teardown(() => client.destroy());
  const dropped = async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/^log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
  };
  /** Sends requests with two lines of 1 kB together each: more than the 8 MiB that may wait. */
  const fill = async () => {
    const before = await dropped();
    client.write(`GET /${'a'.repeat(600)} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`.repeat(10_000));
    await until('lines that are dropped', async () => (await dropped()) > before);
  };

  child.stdout?.pause();
  t.equal(await dropped(), 0);
  await fill();
  child.stdout?.resume();
  const counted = () => [...output().matchAll(/"lines":(\d+),"msg":"log lines were dropped/g)];
  await until('the line about it', () => counted().length > 0);
  const lines = counted().reduce((sum, [, count]) => sum + Number(count), 0);
  t.ok(lines > 0 && lines <= (await dropped()));

  child.stdout?.pause();
  await fill();
  child.kill('SIGTERM');
  t.same(await once(child, 'exit'), [0, null], 'in time, else with another code');
});

const fullDisk = '/dev/full';
const skip = !existsSync(fullDisk);

t.test('a full disk below the log stops nothing, a stuck request no shutdown', { skip }, async (t) => {
  const PORT = String(await freePort());
  const url = `http://127.0.0.1:${PORT}`;
  const environment = { ...(await productionSettings()), PORT };
  const { child, end } = spawnService(environment, undefined, openSync(fullDisk, 'w'));
  t.teardown(() => child.kill('SIGKILL'));
  const live = async () => (await fetch(`${url}/health/live`)).status;
  await until('a service that listens', () => live().catch(() => undefined));
  for (let turn = 0; turn < 20; turn++) await fetch(`${url}/${'a'.repeat(600)}`);
  t.equal(await live(), 200);

  const stuck = await connectTo(url, 'POST /auth/signup/ HTTP/1.1\r\n');
  stuck.send('Content-Length: 10\r\nExpect: 100-continue\r\n\r\n');
  t.equal((await stuck.response()).status, 100);
  // After 14.5 seconds the process would end with another code.
  t.same(await end(), { code: 0, signal: null });
});

t.test('a terminal that is closed ends the service', { skip: without('script') }, async (t) => {
  const log = join(t.testdir(), 'log');
  const command = `exec "${process.execPath}" build/src/server.js >"${log}"`;
  const env = { ...minimalEnvironment, ...(await productionSettings()), PORT: '0' };
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { cwd: root, env });
  const output = () => readFile(log, 'utf8').catch(() => '');
  const find = async () => /"pid":(\d+),.*Server listening/.exec(await output())?.[1];
  const pid = Number(await until('a service', find));
  terminal.kill('SIGKILL');
  const stat = () => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const isGone = async () => /^$|\) Z /.test(await stat());
  t.teardown(async () => (await isGone()) || process.kill(pid, 'SIGKILL'));
  await until('its end', isGone);
  t.match(await output(), '"msg":"shut down"');
});
