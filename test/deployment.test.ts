import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import t from 'tap';
import { parse } from 'yaml';
import { loadConfig } from '../src/config/config.ts';
import { migrate } from '../src/database/migrations.ts';
import { startEmbeddedServer } from '../src/embedded-postgres/server.ts';
import { databaseUrl, execute } from './support/database.ts';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.resolve('#package/package.json')));
const composeFile = readFileSync(fileOf('compose.yaml'), 'utf8');

/** What an operator puts into `.env`. */
const settings: Record<string, string> = {
  JWT_SECRET: 'kX2v8Jw0rTq5YbN7mZc4LpD9sGh1FaUe3Ri6',
  POSTGRES_PASSWORD: 'a0f3b6c9d2e5a8b1',
  DURE_PASSWORD: 'c4d7e0f3a6b9c2d5',
  REDIS_PASSWORD: 'e8f1a4b7c0d3e6f9',
  RESEND_API_KEY: 're_dK3vQ8wZ_unused',
  MAIL_FROM: 'Dure <no-reply@example.com>',
  FRONTEND_URL: 'https://app.example.com',
  PUBLIC_URL: 'https://api.example.com',
};

/** `compose.yaml` as Docker reads it with these settings. */
function readCompose() {
  const text = composeFile.replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name, kind, other) => settings[name] ?? (kind === '-' ? other : `missing ${name}`),
  );
  const { services, networks } = parse(text);
  const { env_file: _, environment, ...service } = services.dure;
  // What `environment` names overrides the file.
  return { services, networks, service, environment: { ...settings, ...environment } };
}

t.test('compose.yaml configures the service without a problem or a warning', async (t) => {
  const { environment, services } = readCompose();
  const { warnings, redisUrl } = loadConfig({ ...environment, NODE_ENV: 'production' });
  t.strictSame(warnings, []);
  t.equal(redisUrl, `redis://:${settings.REDIS_PASSWORD}@redis:6379`);
  t.strictSame(services.migrate.environment, services.dure.environment);
  const named = new Set([...composeFile.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name));
  t.strictSame([...named].sort(), Object.keys(settings).sort());
  const [comment = ''] = composeFile.split('services:');
  for (const name of named) t.ok(comment.includes(name), `${name} is explained`);
});

t.test('compose.yaml gives the service the least rights, and Redis a password', async (t) => {
  const { environment, services } = readCompose();
  const { username, password } = new URL(environment.DATABASE_URL);
  t.strictSame({ username, password }, { username: 'dure', password: settings.DURE_PASSWORD });
  t.equal(services.postgres.environment.POSTGRES_USER, undefined, 'the superuser has the name of the image');
  t.equal(environment.POSTGRES_PASSWORD, '', 'the service does not know its password');
  const { command, environment: redis } = services.redis;
  t.equal(command[command.indexOf('--requirepass') + 1], settings.REDIS_PASSWORD);
  t.equal(redis.REDISCLI_AUTH, settings.REDIS_PASSWORD);
});

t.test('compose.yaml trusts the reverse proxy of the host only', async (t) => {
  const { environment, service, networks } = readCompose();
  t.strictSame(service.ports, ['127.0.0.1:3000:3000']);
  const [network] = networks.default.ipam.config;
  t.strictSame(loadConfig(environment).trustProxy, [network.gateway]);
});

const noClient = spawnSync('psql', ['--version']).error ? 'there is no psql here' : false;

t.test('the role of the service owns its database only', { skip: noClient }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'dure-deployment-'));
  const server = await startEmbeddedServer({ directory });
  t.teardown(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  // The embedded server has a role and a database of these names.
  const postgres = databaseUrl(server.url, 'postgres');
  const superuser = new URL(postgres);
  superuser.username = 'postgres';
  superuser.password = 'superuser';
  await execute(postgres, "CREATE ROLE postgres SUPERUSER LOGIN PASSWORD 'superuser'", 'DROP DATABASE dure');
  await execute(superuser.href, 'ALTER ROLE dure RENAME TO embedded');
  const password = "quote'd";
  await promisify(execFile)(fileOf('deploy/postgres/create-role.sh'), {
    env: {
      PATH: process.env.PATH,
      PGHOST: superuser.hostname,
      PGPORT: superuser.port,
      PGPASSWORD: superuser.password,
      POSTGRES_USER: superuser.username,
      POSTGRES_DB: 'postgres',
      DURE_PASSWORD: password,
    },
  });
  const url = new URL(databaseUrl(server.url, 'dure'));
  url.username = 'dure';
  url.password = encodeURIComponent(password);
  await migrate(url.href);

  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  t.teardown(() => client.end());
  const { rows } = await client.query(`
    SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
      ARRAY(SELECT datname::text FROM pg_database WHERE datallowconn AND has_database_privilege(datname, 'CONNECT') ORDER BY 1) AS reachable
    FROM pg_roles WHERE rolname = current_user`);
  t.strictSame(rows, [
    {
      rolsuper: false,
      rolcreatedb: false,
      rolcreaterole: false,
      rolreplication: false,
      rolbypassrls: false,
      reachable: ['dure'],
    },
  ]);
  await t.rejects(client.query('CREATE DATABASE other'), { code: '42501' });
});

t.test('the image and npm start give Node.js threads for all cores, unless it has a number', async (t) => {
  const threads = String(Math.max(4, 2 * availableParallelism()));
  const print = 'process.stdout.write(process.env.UV_THREADPOOL_SIZE)';
  const { start = '' } = JSON.parse(readFileSync(fileOf('package.json'), 'utf8')).scripts;
  // What npm start runs after the build, with another script.
  const [, ofNpm = ''] = /exec (env .* node) --max/.exec(start) ?? [];
  const entrypoint = fileOf('deploy/entrypoint.sh');
  const { UV_THREADPOOL_SIZE: _, ...env } = process.env;
  for (const command of [`${ofNpm} -e "$0"`, `sh "${entrypoint}" node -e "$0"`]) {
    const read = (variables: Record<string, string>) =>
      spawnSync('sh', ['-c', command, print], { env: { ...env, ...variables }, encoding: 'utf8' }).stdout;
    t.equal(read({}), threads, command);
    t.equal(read({ UV_THREADPOOL_SIZE: '7' }), '7', command);
  }
});
