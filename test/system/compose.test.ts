import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import t from 'tap';
import { parse } from 'yaml';
import { httpErrors } from '../../src/http/errors.ts';
import { loadConfig } from '../../src/infrastructure/config/config.ts';
import { plannerSettings } from '../../src/infrastructure/database/client.ts';
import { environmentNames } from '../config/environments.ts';
import { readText, root, temporaryFolder } from '../support/files.ts';
import { run } from '../support/processes.ts';
import { without } from '../support/requirements.ts';

const composeFile = readText('compose.yaml');

/** What an operator puts into `.env`. */
const settings: Record<string, string> = {
  DURE_VERSION: '1.0.0',
  PUBLIC_URL: 'https://api.example.com',
  FRONTEND_URL: 'https://app.example.com',
  CORS_ORIGINS: 'https://app.example.com',
  RESEND_API_KEY: 're_dK3vQ8wZ_unused',
  MAIL_FROM: 'Dure <no-reply@example.com>',
  JWT_SECRET: 'kX2v8Jw0rTq5YbN7mZc4LpD9sGh1FaUe3Ri6',
  VAPID_PRIVATE_KEY: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8',
  TERMS_VERSION: '2026-01-31',
  TERMS_URL: 'https://app.example.com/terms',
  PRIVACY_VERSION: '2026-01-31',
  PRIVACY_URL: 'https://app.example.com/privacy',
  POSTGRES_PASSWORD: 'a0f3b6c9d2e5a8b1',
  DURE_PASSWORD: 'c4d7e0f3a6b9c2d5',
  REDIS_PASSWORD: 'e8f1a4b7c0d3e6f9',
};
const instances = ['dure-1', 'dure-2'];

/** `compose.yaml` as Docker reads it with these settings. */
function readCompose() {
  const text = composeFile.replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name, kind, other) => settings[name] ?? (kind === '-' ? other : `missing ${name}`),
  );
  const { services, networks } = parse(text, { merge: true });
  const { environment, ...service } = services[instances[0] ?? ''];
  // What `environment` names overrides the file.
  return { services, networks, service, own: environment, environment: { ...settings, ...environment } };
}

t.test('compose.yaml configures the service without a problem', async (t) => {
  const { environment, own, services } = readCompose();
  const { redisUrl, database } = loadConfig({ ...environment, NODE_ENV: 'production' });
  t.equal(redisUrl, `redis://:${settings['REDIS_PASSWORD']}@redis:6379`);
  t.ok(database.pooled);
  for (const name of [...instances, 'migrate']) t.strictSame(services[name].environment, own, name);
  for (const name of Object.keys(own)) {
    const isKnown = environmentNames.includes(name) || name === 'POSTGRES_PASSWORD';
    t.ok(isKnown, `${name} is a variable of the service`);
  }
});

t.test('.env.example has every setting and no value, and create-env.sh makes the secrets', async (t) => {
  const example = readText('.env.example');
  const named = new Set([...composeFile.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name));
  const lines = example.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const empty = Object.keys(settings).map((name) => `${name}=`);
  t.strictSame(lines.sort(), empty.sort());
  for (const name of named) t.ok(name in settings, `${name} is in .env.example`);

  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'deploy'));
  for (const path of ['deploy/create-env.sh', 'package.json']) cpSync(join(root, path), join(folder, path));
  writeFileSync(join(folder, '.env.example'), example);
  const create = () => run(join(folder, 'deploy/create-env.sh'), []);
  await create();
  const file = join(folder, '.env');
  const created = readFileSync(file, 'utf8');
  const secrets = [...created.matchAll(/^\w+=([0-9a-f]{64})$/gm)].map(([, secret]) => secret);
  t.equal(new Set(secrets).size, 4);
  t.match(created, `DURE_VERSION=${JSON.parse(readText('package.json')).version}\n`);
  const vapid = { VAPID_PRIVATE_KEY: /^VAPID_PRIVATE_KEY=(.*)$/m.exec(created)?.[1] };
  t.ok(loadConfig({ ...settings, ...vapid }).vapid, 'a key of push messages');
  t.equal(statSync(file).mode & 0o077, 0, 'others cannot read it');
  await t.rejects(create());
  t.equal(readFileSync(file, 'utf8'), created, 'a second run changes nothing');
});

t.test('compose.yaml gives the service the least rights, and Redis a password', async (t) => {
  const { environment, services } = readCompose();
  for (const url of [environment.DATABASE_URL, environment.DATABASE_DIRECT_URL]) {
    const { username, password } = new URL(url);
    t.strictSame({ username, password }, { username: 'dure', password: settings['DURE_PASSWORD'] });
  }
  t.equal(services.postgres.environment.POSTGRES_USER, undefined, 'the superuser has the name of the image');
  t.equal(environment.POSTGRES_PASSWORD, '', 'the service does not know its password');
  const superuser = Object.keys(services).filter((name) =>
    Object.values(services[name].environment ?? {}).includes(settings['POSTGRES_PASSWORD']),
  );
  t.strictSame(superuser.sort(), ['postgres', 'restore']);
  for (const [name, service] of Object.entries<Record<string, unknown>>(services)) {
    t.match(service, { mem_limit: String, security_opt: ['no-new-privileges:true'] }, name);
    // PostgreSQL's own image prepares its folders first.
    t.equal(service['read_only'] === true, !['postgres', 'backup', 'restore'].includes(name), name);
  }
  const { command, environment: redis } = services.redis;
  t.equal(command[command.indexOf('--requirepass') + 1], settings['REDIS_PASSWORD']);
  t.equal(redis.REDISCLI_AUTH, settings['REDIS_PASSWORD']);
});

t.test('compose.yaml trusts the proxy only, which reaches neither metrics nor database', async (t) => {
  const { environment, services, networks } = readCompose();
  const { proxy } = services;
  t.strictSame(loadConfig(environment).trustProxy, [proxy.networks.edge.ipv4_address]);
  t.strictSame(Object.keys(proxy.networks), ['edge']);
  const published = Object.keys(services).filter((name) => services[name].ports);
  t.strictSame(published, ['proxy']);
  t.ok(networks.data.internal && networks.metrics.internal);
  for (const name of ['postgres', 'pgbouncer', 'redis'])
    t.strictSame(services[name].networks, ['data'], name);
});

const skip = without('caddy');

t.test('the proxy routes to ready instances, and repeats nothing that changes rows', { skip }, async (t) => {
  const { environment } = readCompose();
  const { stdout, stderr } = await run('caddy', ['adapt', '--config', 'deploy/caddy/Caddyfile'], {
    env: { PATH: process.env.PATH, PUBLIC_URL: environment.PUBLIC_URL },
  });
  t.notMatch(stderr, /not formatted/);
  const [route] = JSON.parse(stdout).apps.http.servers.srv0.routes;
  t.strictSame(route.match, [{ host: ['api.example.com'] }]);
  const [, inside, others] = route.handle[0].routes;
  t.match(inside, {
    match: [{ path: ['/health*', '/metrics*'] }],
    handle: [{ routes: [{ handle: [{ status_code: 404 }] }] }],
  });
  const [body, proxy] = others.handle[0].routes[0].handle;
  t.ok(body.max_size > 10 * 1024 * 1024);
  const { port, shutdownDelay } = loadConfig(environment);
  const upstreams = instances.map((name) => ({ dial: `${name}:${port}` }));
  t.strictSame(proxy.upstreams, upstreams);
  const second = 1e9;
  const { active } = proxy.health_checks;
  t.match(active, { uri: '/health/ready', expect_status: 200 });
  t.ok(active.interval + active.timeout < shutdownDelay * second, 'it notices a shutdown in time');
  t.ok(proxy.transport.keep_alive.idle_timeout < 72 * second, 'it closes idle connections first');
  t.equal(proxy.load_balancing.retry_match, undefined, 'only GET is repeated');
  t.equal(proxy.headers, undefined, 'X-Forwarded-For is that of Caddy');
  const [{ mappings, defaults }] = route.handle[0].routes[0].handle;
  const seconds = [...mappings.flatMap(({ outputs }: { outputs: string[] }) => outputs), ...defaults];
  t.strictSame(seconds.map(Number), [3, 4, 5, 6, 7, 8], 'seconds of Retry-After');
  const { code, text } = httpErrors.serviceUnavailable;
  const [, response] =
    readText('deploy/caddy/Caddyfile').match(/respond `(.*)` \{http\.error\.status_code\}/) ?? [];
  const failure = { success: false, message: text.ko, data: { detail: text.ko, code } };
  t.strictSame(JSON.parse(response ?? '{}'), failure, 'without an instance it answers as the service does');
});

t.test('PgBouncer is where the service looks for it, with room for all pools', async (t) => {
  const { environment } = readCompose();
  const file = readText('deploy/pgbouncer/pgbouncer.ini');
  const setting = (name: string) => new RegExp(`^${name} = (.*)$`, 'm').exec(file)?.[1];
  t.equal(setting('listen_port'), new URL(environment.DATABASE_URL).port);
  t.equal(setting('pool_mode'), 'transaction');
  t.match(setting('dure'), /host=postgres port=5432 dbname=dure/);
  const { plan_cache_mode: _, ...planner } = plannerSettings;
  for (const name of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) {
    t.match(setting('dure'), `SET ${name} = `);
  }
  for (const [name, value] of Object.entries(planner)) t.match(setting('dure'), `SET ${name} = ${value}`);
  const { poolSize } = loadConfig(environment).database;
  t.ok(Number(setting('max_client_conn')) >= (instances.length + 1) * poolSize);
});

t.test('systemd reports nothing about the units', { skip: without('systemd-analyze') }, async (t) => {
  const folder = temporaryFolder(t);
  for (const [file, unit] of Object.entries({
    'dure@.service': 'dure@3001.service',
    'dure-migrate.service': 'dure-migrate.service',
  })) {
    // The programs are not where an operator installs them.
    const text = readText(`deploy/systemd/${file}`).replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true');
    writeFileSync(join(folder, unit), text);
    const verify = async (name: string) => {
      const { stderr } = await run('systemd-analyze', ['verify', join(folder, name)]).catch((error) => error);
      return stderr;
    };
    t.notMatch(await verify(unit), 'dure');
    writeFileSync(join(folder, `broken-${unit}`), text.replace('User=', 'Usr='));
    t.match(await verify(`broken-${unit}`), 'dure');
  }
});
